vim9script
# Tickets: in the registers, on the clipboard, and in a window of their own until it is closed; :NotesTicket shows it again.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/list.vim'
import autoload 'notes_lsp/status.vim'

const ticketName = '[Notes ticket]'

# The last answer to notes/share, by the note's id.
var tickets: dict<dict<any>> = {}

# A new ticket: into the registers " and +, onto the clipboard of the terminal, and shown.
export def Take(result: dict<any>)
  tickets[result.id] = result
  Give(result)
enddef

# Shows the last ticket of the current note again, or hides it.
export def Again()
  const window = bufwinid(list.Number(ticketName))
  if window > 0
    win_execute(window, 'close')
    return
  endif
  const note = buffer.Of(bufnr())
  if empty(note) || note.id == ''
    status.Warn('Not a note. :NotesShare shares it and shows a ticket')
  elseif !tickets->has_key(note.id)
    status.Warn(':NotesShare first: no ticket was made here yet')
  else
    Give(tickets[note.id])
  endif
enddef

def Give(ticket: dict<any>)
  setreg('"', ticket.ticket)
  if has('clipboard_working')
    setreg('+', ticket.ticket)
  elseif g:->get('notes_lsp_osc52', true)
    # A terminal that does not know this ignores it; tmux passes it on with `set-clipboard on`.
    echoraw($"\e]52;c;{Base64(ticket.ticket)}\x07")
  endif
  const width = min([&columns - 2, 76])
  const what = ticket->get('access', 'write') ==# 'read' ? 'read' : 'edit'
  const uses = ticket->get('uses', 1) == 1 ? 'one use' : $'{ticket.uses} uses'
  var lines = [$'Anyone with this ticket can {what} this note ({uses})', ''] + Wrapped(ticket.ticket, width)
  if ticket->get('words', '') != ''
    lines += ['', 'Or read aloud:'] + Wrapped(ticket.words, width)
  endif
  const expires = ticket->get('expires', v:null)
  const by = expires == v:null ? '' : strftime(', by %b %d %H:%M', expires / 1000)
  lines += ['', $'You must both be online, and in reach of each other{by}.',
    'Copied. :NotesTicket closes this, and shows it again']
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

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

def Base64(text: string): string
  var result = ''
  const bytes = range(len(text))->mapnew((_, it) => strgetchar(text[it], 0))
  for start in range(0, len(bytes) - 1, 3)
    const part = bytes[start : start + 2]
    const number = part[0] * 65536 + part->get(1, 0) * 256 + part->get(2, 0)
    const four = [number / 262144, number / 4096 % 64, number / 64 % 64, number % 64]
    result ..= four->mapnew((index, it) => index <= len(part) ? digits[it] : '=')->join('')
  endfor
  return result
enddef

# Lines of at most that width, broken between words; only what has no blank is broken elsewhere.
export def Wrapped(text: string, width: number): list<string>
  final lines = ['']
  for word in text->split()
    if lines[-1] != '' && strdisplaywidth(lines[-1] .. ' ' .. word) > width
      lines->add('')
    endif
    lines[-1] ..= (lines[-1] == '' ? '' : ' ') .. word
    while strdisplaywidth(lines[-1]) > width
      const rest = lines[-1]->strcharpart(width)
      lines[-1] = lines[-1]->strcharpart(0, width)
      lines->add(rest)
    endwhile
  endfor
  return lines
enddef
