-- Lists of tasks by tag read the tasks: see tag_keys there.

DROP TABLE task_tags;
