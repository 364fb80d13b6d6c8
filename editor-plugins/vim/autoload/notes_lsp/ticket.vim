vim9script
# Tickets: in the registers, on the clipboard, and in a window of their own until it is closed; :NotesTicket shows it again.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/commands.vim'
import autoload 'notes_lsp/list.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/status.vim'
import autoload 'notes_lsp/view.vim'

const ticketName = '[Notes ticket]'

# The last answer to notes/share, by the note's id.
var tickets: dict<dict<any>> = {}
# The note whose ticket the window shows; '' after that was revoked.
var shown = ''

# How tickets are to be shown.
export def Wanted(): dict<any>
  return {qr: &encoding ==# 'utf-8', width: min([&columns - 2, 76])}
enddef

# A new ticket: into the registers " and +, onto the clipboard of the terminal, and shown.
export def Take(result: dict<any>)
  tickets[result.id] = result
  Give(result)
enddef

# Shows the last ticket of the current note again if it is still valid, or hides it.
export def Again()
  const window = bufwinid(list.Number(ticketName))
  if window > 0
    win_execute(window, 'close')
    return
  endif
  const id = view.NoteId() ?? buffer.Of(bufnr())->get('id', '')
  if id == ''
    status.Warn('Not a note. :NotesShare shares it and shows a ticket')
  elseif !tickets->has_key(id)
    status.Warn(':NotesShare first: no ticket was made here yet')
  else
    const ticket = tickets[id]
    service.Request('notes/ticket', {id: id, ticket: ticket.ticket}, commands.Then((_) => Give(ticket)))
  endif
enddef

# The tickets of a note no longer work: if its ticket is on the screen, the window says so.
export def Revoked(id: string)
  if shown ==# id
    shown = ''
    const bufnr = list.Number(ticketName)
    if bufnr > 0
      list.SetLines(bufnr, ['This ticket no longer works. :NotesShare makes a new one'])
    endif
  endif
enddef

def Give(ticket: dict<any>)
  shown = ticket.id
  setreg('"', ticket.ticket)
  if has('clipboard_working')
    setreg('+', ticket.ticket)
  elseif g:->get('notes_lsp_osc52', true)
    # A terminal that does not know this ignores it; tmux passes it on with `set-clipboard on`.
    echoraw($"\e]52;c;{ticket.base64}\x07")
  endif
  var lines: list<string> = ticket.lines->copy()
  const code = empty(ticket->get('qr', [])) ? [] : ['', 'Or scan:'] + ticket.qr
  # The whole code must fit a window to be scanned, and a few lines of the note stay.
  const room = &lines - 8
  if !empty(code) && len(lines + code) > room
    lines->add(len(code) > room ? $'Below: a QR code, which needs {len(code) + 8} lines' : 'Below: a QR code (CTRL-W w, then G)')
  endif
  const height = len(code) > room ? min([len(lines), &lines - 6]) : min([len(lines + code), room])
  lines += code
  const from = win_getid()
  list.Show(ticketName, lines)
  execute $'resize {height}'
  cursor(1, 1)
  win_gotoid(from)
enddef
