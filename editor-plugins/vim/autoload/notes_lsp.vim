vim9script
# The functions that are meant for vimrc files; documented in doc/notes_lsp.txt.

import autoload 'notes_lsp/condition.vim'

# For 'statusline': the people in the note of this window, and whether everything has been sent and received.
export def Status(): string
  return condition.Line()
enddef
