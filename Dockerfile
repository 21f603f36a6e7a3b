# notesd in a container, for an assistant that launches it:
#
#   docker run -i --rm -v ~/Notes:/vault -v notesd-state:/state notesd
#
# On Linux, --user $(id -u):$(id -g) lets it write notes as you. docs/install.md has the
# command for a server over HTTP.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY . .
ARG TARGETOS TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags="-s -w -buildid=" -o /root-fs/usr/bin/notesd ./cmd/notesd \
    && mkdir -m 755 /root-fs/config \
    && mkdir -m 1777 /root-fs/tmp /root-fs/state /root-fs/vault

FROM scratch
COPY --from=build /root-fs /
USER 65532:65532
ENV PATH=/usr/bin NOTESD_VAULT=/vault XDG_STATE_HOME=/state XDG_CONFIG_HOME=/config
VOLUME ["/vault", "/state"]
HEALTHCHECK --interval=1m --timeout=10s --start-period=10s CMD ["notesd", "status"]
ENTRYPOINT ["notesd"]
CMD ["mcp", "--in-process"]
