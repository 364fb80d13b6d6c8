vim9script
# Tickets: shown with the words to read aloud until a key is pressed, and again by :NotesTicket.

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/status.vim'

# The last ticket of each note, by id: {ticket, words, isReadOnly}.
var tickets: dict<dict<any>> = {}

# A new ticket: into the registers " and +, and shown.
export def Take(note: dict<any>, result: dict<any>, isReadOnly: bool)
  tickets[note.id] = {ticket: result.ticket, words: result->get('words', ''), isReadOnly: isReadOnly}
  Popup(tickets[note.id])
enddef

# Shows the last ticket of the current note again.
export def Again()
  const note = buffer.Of(bufnr())
  if empty(note) || note.id == ''
    status.Warn('Not a note. :NotesShare shares it and shows a ticket')
  elseif !tickets->has_key(note.id)
    status.Warn(':NotesShare first: no ticket was made here yet')
  else
    Popup(tickets[note.id])
  endif
enddef

def Popup(ticket: dict<any>)
  setreg('"', ticket.ticket)
  if has('clipboard')
    setreg('+', ticket.ticket)
  endif
  const width = min([&columns - 6, 72])
  var lines = Wrapped(ticket.ticket, width)
  if ticket.words != ''
    lines += ['', 'Or read aloud:'] + Wrapped(ticket.words, width)
  endif
  lines += ['', 'In register "; :NotesTicket shows it again']
  const what = ticket.isReadOnly ? 'read' : 'edit'
  popup_create(lines, {
    title: $' Anyone with this ticket can {what} this note (one use) ', border: [], padding: [0, 1, 0, 1], wrap: false,
    moved: 'any', zindex: 200, filter: (id, _) => {
      popup_close(id)
      return false
    },
  })
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
