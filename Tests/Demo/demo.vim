" The left side of the demo: makes a note, shares it, and leaves the ticket where the right side looks for it.
set nocompatible laststatus=2 noswapfile shortmess+=I
filetype plugin indent on
execute 'set runtimepath^=' .. fnameescape($NOTES_DEMO_SOURCE .. '/editor-plugins/vim')
runtime plugin/notes_lsp.vim
let g:notes_lsp_command = [$NOTES_LSP_BINARY, '--home', $NOTES_DEMO_DIR .. '/ana/home', '--notes', $NOTES_DEMO_DIR .. '/ana/notes', '--listen', '127.0.0.1:0', '--log', $NOTES_DEMO_DIR .. '/ana/log']
let g:notes_lsp_name = 'Ana'

func DemoTicket(_timer)
  if getreg('"') =~# '^notes-lsp:'
    call writefile([trim(getreg('"'))], $NOTES_DEMO_DIR .. '/ticket.part')
    call rename($NOTES_DEMO_DIR .. '/ticket.part', $NOTES_DEMO_DIR .. '/ticket')
    return
  endif
  if get(b:, 'notes_lsp', {})->get('id', '') !=# '' && !exists('g:demo_shared')
    let g:demo_shared = 1
    NotesShare
  endif
  call timer_start(50, 'DemoTicket')
endfunc

func DemoStart(_timer)
  NotesNew Shopping
  call timer_start(50, 'DemoTicket')
endfunc
autocmd VimEnter * call timer_start(50, 'DemoStart')
