-- The model that embeds the texts of a table, by its id and where it is opened:
-- texts are comparable with texts that the same model embedded. '': none yet.
-- NULL: the table was made before its model was recorded.
ALTER TABLE vector_tables ADD COLUMN model TEXT;
ALTER TABLE vector_tables ADD COLUMN model_source TEXT NOT NULL DEFAULT '';
