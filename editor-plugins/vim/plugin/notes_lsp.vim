if !has('vim9script')
  if has('nvim')
    echomsg 'Notes: this is the plugin for Vim; use editor-plugins/neovim'
  endif
  finish
endif
vim9script
# notes-lsp: notes that several people write at the same time, from Vim, Emacs and others.
#
# autoload/notes_lsp/definitions.vim has the commands.
#
#   g:notes_lsp_command    the service's command, a list; default ['notes-lsp']
#   g:notes_lsp_name       your name as others see it; default: the service's
#   g:notes_lsp_color      the colour you would like, 0 to 11
#   g:notes_lsp_osc52      whether tickets go onto the terminal's clipboard by OSC 52; default true
#   g:notes_lsp_map_undo   whether u, U, CTRL-R, g- and g+ are mapped in notes; default true
#   g:notes_lsp_statusline whether 'statusline' shows how a note is, unless you have set one; default true
#   g:notes_lsp_dir        where notes are, if not in $NOTES_DIR or ~/Notes: files there are recognised when opened
#
#   b:notes_lsp            in a note, a dictionary with id, uri, rev, version, synced (all sent, all received), peers
#   notes_lsp#Status()     a few words for 'statusline'
#
# More: :help notes-lsp. The service is started when a note is opened or a command needs it, and, if you chose to be
# seen on this network, a moment after Vim.

if exists('g:loaded_notes_lsp')
  finish
endif
if !has('patch-9.0.1378') || !has('channel') || !has('job') || !has('timers') || !has('textprop')
  echomsg 'Notes: update Vim to 9.0.1378 or later (+channel, +job, +timers, +textprop)'
  finish
endif
g:loaded_notes_lsp = true

import autoload 'notes_lsp/definitions.vim'
definitions.Define()

augroup notes_lsp
  autocmd!
  autocmd VimEnter * call timer_start(2000, 'notes_lsp#files#BeSeen')
  autocmd BufReadPost,BufNewFile * call notes_lsp#files#OnRead(str2nr(expand('<abuf>')))
  autocmd BufReadCmd *.meetingnotes call notes_lsp#exchange#OpenFile(expand('<afile>:p'))
  autocmd SessionLoadPost * if empty(get(b:, 'notes_lsp', {})) && &l:ul == -1 && !&l:ml && !&l:swf | setlocal ul< ml< swf< ar< | endif
  autocmd CmdlineLeave : call notes_lsp#undo#OnCommandLine()
augroup END
