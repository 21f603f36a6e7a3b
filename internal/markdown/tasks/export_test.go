package tasks

// Values returns the values of fields that Task does not export.
func (t *Task) Values(names ...string) (values []string) {
	for _, name := range names {
		values = append(values, t.value(name))
	}
	return values
}
