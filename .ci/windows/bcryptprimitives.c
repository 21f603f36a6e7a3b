/* The random numbers that Go's runtime asks Windows for, by way of the call that Wine 8 has. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length); /* RtlGenRandom */

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
	return SystemFunction036(data, (ULONG)length);
}
