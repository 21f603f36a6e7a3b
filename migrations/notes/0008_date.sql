-- Lists of notes are sorted by date unless another order is asked for.

CREATE INDEX notes_date ON notes (date, id);
