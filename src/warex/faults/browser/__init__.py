"""What the browser itself does to a page: its dialogs, its storage, its windows, its cache."""
