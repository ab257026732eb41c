"""`footlight replay` and `footlight export`: the commands that read call logs."""
