vim9script
# Carets: this user's caret goes out, the others' carets, selections and names are shown.

import autoload 'notes_lsp/text.vim'
import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/definitions.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/going.vim'
import autoload 'notes_lsp/sync.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/safe.vim'
import autoload 'notes_lsp/status.vim'

# At most twenty reports of this user's caret a second.
const reportInterval = 50
const maximumNameWidth = 16
# How long the place that another person points at stays marked, in milliseconds.
const pointedTime = 5000

var propertyTypes: list<string> = []
var reportTimer = 0
var reportAgain = false
var lastReport: dict<any> = {}
# The peer that the view of a buffer follows, by buffer number: {peer, place}; the place is where the cursor was put last.
var followed: dict<dict<any>> = {}
# Where people have just pointed, by their ids: {bufnr, range}.
var pointed: dict<dict<any>> = {}

export def DefineHighlights()
  const isDark = &background ==# 'dark'
  for index in range(12)
    const [cterm, gui, selectedCterm, selectedGui] = (isDark ? definitions.dark : definitions.light)[index]
    const onCterm = isDark ? 16 : 231
    const onGui = isDark ? '#000000' : '#ffffff'
    if str2nr(&t_Co) >= 88 || has('gui_running') || &termguicolors
      execute $'highlight default NotesCaret{index} ctermfg={onCterm} ctermbg={cterm} guifg={onGui} guibg={gui}'
      execute $'highlight default NotesName{index} cterm=italic ctermfg={cterm} gui=italic guifg={gui}'
      execute $'highlight default NotesSelection{index} ctermbg={selectedCterm} guibg={selectedGui}'
    elseif str2nr(&t_Co) >= 8
      # There are eight colours for any number of people: people of one colour have different letters.
      const basic = definitions.basic[index]
      execute $'highlight default NotesCaret{index} term=reverse cterm=reverse ctermfg={basic}'
      execute $'highlight default NotesName{index} term=NONE ctermfg={basic}'
      execute $'highlight default NotesSelection{index} term=underline cterm=underline ctermfg={basic}'
    else
      execute $'highlight default NotesCaret{index} term=reverse cterm=reverse'
      execute $'highlight default NotesName{index} term=underline cterm=underline'
      execute $'highlight default NotesSelection{index} term=underline cterm=underline'
    endif
  endfor
enddef

def DefineTypes()
  if !empty(propertyTypes)
    return
  endif
  DefineHighlights()
  for index in range(12)
    for [name, priority] in [['Caret', 30], ['Name', 20], ['Selection', 10]]
      const type = $'Notes{name}{index}'
      if empty(prop_type_get(type))
        prop_type_add(type, {highlight: type, priority: priority, combine: true, start_incl: false, end_incl: false})
      endif
      propertyTypes->add(type)
    endfor
  endfor
  if empty(prop_type_get('NotesPointed'))
    highlight default link NotesPointed IncSearch
    prop_type_add('NotesPointed', {highlight: 'NotesPointed', priority: 40})
  endif
enddef

# Shows these `peers`. Each: {peer, name, color, letter, ranges}.
export def Show(note: dict<any>, peers: list<any>)
  const arrows = Arrows(note)
  note.peers = peers->deepcopy()
  for peer in note.peers
    for range in peer.ranges
      range.start = text.ClampedPosition(note.shadow, range.start)
      range.end = text.ClampedPosition(note.shadow, range.end)
    endfor
  endfor
  Redraw(note)
  # The status line has them, and is drawn anew only when something of the window's own changes.
  if Arrows(note) != arrows && mode() !~# '^[cr!]'
    redrawstatus!
  endif
  going.OnCarets(note)
enddef

# Moves the carets over edits that are about to be made. A caret stays after text typed at its place, as in
# the service: it belongs to the character after it.
export def Carry(note: dict<any>, edits: list<dict<any>>)
  for edit in note->has_key('part') ? edits->copy()->reverse() : []
    # The lines to restore: not those that are put before or after them.
    note.part.start = text.Carried(note.part.start, edit, edit.newText =~ '\n$')
    note.part.end = text.Carried(note.part.end, edit, false)
  endfor
  for peer in note.peers
    for range in peer.ranges
      for edit in edits->copy()->reverse()
        range.start = text.Carried(range.start, edit, true)
        range.end = text.Carried(range.end, edit, true)
      endfor
    endfor
  endfor
enddef

export def Clear(note: dict<any>)
  note.peers = []
  Redraw(note)
enddef

# Redraws the carets, because setting a line removes its text properties.
export def Redraw(note: dict<any>)
  if !bufloaded(note.bufnr) || (empty(note.peers) && empty(propertyTypes))
    return
  endif
  DefineTypes()
  prop_remove({types: propertyTypes, bufnr: note.bufnr, all: true}, 1, LineCount(note.bufnr))
  for peer in note.peers
    for range in peer.ranges
      DrawSelection(note.bufnr, range, peer.color % 12)
      DrawCaret(note.bufnr, range.end, peer, peer.color % 12)
    endfor
  endfor
  if IsFollowing(note)
    gate.WhenSafe(() => Follow(note))
  endif
enddef

def LineCount(bufnr: number): number
  return getbufinfo(bufnr)[0].linecount
enddef

# A caret at the end of a line is the person's letter, so that it is visible without colours.
def DrawCaret(bufnr: number, caret: dict<any>, peer: dict<any>, color: number)
  const name = safe.Line(peer.name)
  const letter = safe.Line(peer->get('letter', ' '))
  const lines = getbufline(bufnr, caret.line + 1)
  # The caret after a final newline is in a line that Vim does not show.
  const line = empty(lines) ? LineCount(bufnr) : caret.line + 1
  const content = empty(lines) ? getbufline(bufnr, '$')[0] : lines[0]
  if !empty(lines) && caret.character < len(content)
    const width = len(content->strpart(caret.character, 1, true))
    prop_add(line, caret.character + 1, {bufnr: bufnr, type: $'NotesCaret{color}', length: width})
  else
    prop_add(line, 0, {bufnr: bufnr, type: $'NotesCaret{color}', text: letter == '' ? ' ' : letter, text_align: 'after'})
  endif
  # The letters differ even if two names begin alike.
  const isLetterShown = empty(lines) || caret.character >= len(content)
  const label = (isLetterShown || name->toupper()->strcharpart(0, 1) ==# letter ? ' ' : $' {letter} ') .. name->strcharpart(0, maximumNameWidth)
  prop_add(line, 0, {bufnr: bufnr, type: $'NotesName{color}', text: label, text_align: 'after'})
enddef

def DrawSelection(bufnr: number, range: dict<any>, color: number)
  if range.start == range.end
    return
  endif
  const [first, last] = text.IsBefore(range.end, range.start) ? [range.end, range.start] : [range.start, range.end]
  const lines = getbufline(bufnr, first.line + 1, last.line + 1)
  if empty(lines)
    return
  endif
  const endLine = first.line + len(lines)
  const endColumn = endLine == last.line + 1 ? min([last.character, len(lines[-1])]) : len(lines[-1])
  prop_add(first.line + 1, min([first.character, len(lines[0])]) + 1, {
    bufnr: bufnr, type: $'NotesSelection{color}', end_lnum: endLine, end_col: endColumn + 1,
  })
enddef

# Reports this user's caret soon: at once after a pause, else with the next beat.
export def SendSoon(note: dict<any>)
  if note.bufnr != bufnr() || !note.isOpen
    return
  endif
  if reportTimer != 0
    reportAgain = true
    return
  endif
  reportTimer = timer_start(0, (_) => Report(note))
enddef

def Report(note: dict<any>)
  reportAgain = false
  reportTimer = timer_start(reportInterval, (_) => {
    reportTimer = 0
    if reportAgain
      const current = buffer.Of(bufnr())
      if !empty(current)
        Report(current)
      endif
    endif
  })
  if note.bufnr != bufnr() || !note.isOpen
    return
  endif
  sync.Flush(note, false)
  const report = {uri: note.uri, version: note.version, rev: note.rev, ranges: [OwnRange()]}
  # After an edit by others, the same numbers are another place.
  const said = report->copy()->extend({incarnation: service.Incarnation()})
  if said == lastReport
    return
  endif
  lastReport = said
  service.Notify('notes/cursor', report)
enddef

# The caret, or the selection with the caret at its end.
def OwnRange(): dict<any>
  const at = getpos('.')
  final caret = {line: at[1] - 1, character: at[2] - 1}
  const mode = mode()
  if mode !~ "^[vVsS\<C-v>\<C-s>]"
    return {start: caret, end: caret}
  endif
  const other = getpos('v')
  final anchor = {line: other[1] - 1, character: other[2] - 1}
  const isForward = text.IsBefore(anchor, caret)
  if mode =~# '[VS]'
    if isForward
      anchor.character = 0
      caret.character = LineLength(caret.line)
    else
      anchor.character = LineLength(anchor.line)
    endif
  elseif &selection !=# 'exclusive'
    # The character under the far end is part of the selection.
    if isForward
      caret.character = AfterCharacter(caret)
    else
      anchor.character = AfterCharacter(anchor)
    endif
  endif
  return {start: anchor, end: caret}
enddef

def LineLength(line: number): number
  return len(getline(line + 1))
enddef

def AfterCharacter(position: dict<any>): number
  return position.character + len(getline(position.line + 1)->strpart(position.character, 1, true))
enddef

# The peers in a buffer by name, for completion and :NotesGo.
export def Names(note: dict<any>): list<string>
  return note->get('peers', [])->mapnew((_, it) => it.name)->sort()->uniq()
enddef

export def Find(note: dict<any>, name: string): dict<any>
  for peer in note->get('peers', [])
    if (name == '' || peer.name ==? name) && !empty(peer.ranges)
      return peer
    endif
  endfor
  return {}
enddef

# Moves the caret of the current window to a person's, or to where they have just pointed.
export def Go(note: dict<any>, peer: dict<any>)
  const place = pointed->get(peer.peer, {})
  const caret = !empty(place) && place.bufnr == note.bufnr ? place.range.start : peer.ranges[-1].end
  cursor(min([caret.line + 1, line('$')]), caret.character + 1)
enddef

# A person points at a part of a note: marks it for a while.
export def OnPointed(note: dict<any>, event: dict<any>)
  if empty(note) || !bufloaded(note.bufnr)
    return
  endif
  DefineTypes()
  # The place after a final newline is in a line that Vim does not show.
  const lines = getbufline(note.bufnr, 1, '$')
  const [first, last] = [text.ClampedPosition(lines, event.range.start), text.ClampedPosition(lines, event.range.end)]
  pointed[event.peer] = {bufnr: note.bufnr, range: {start: first, end: last}}
  const isEmpty = first == last
  prop_add(first.line + 1, isEmpty ? 1 : first.character + 1, {
    bufnr: note.bufnr, type: $'NotesPointed', end_lnum: last.line + 1,
    end_col: isEmpty ? len(lines[first.line]) + 1 : last.character + 1,
  })
  timer_start(pointedTime, (_) => {
    if bufloaded(note.bufnr)
      prop_remove({type: 'NotesPointed', bufnr: note.bufnr, all: true}, 1, LineCount(note.bufnr))
    endif
    if pointed->has_key(event.peer)
      pointed->remove(event.peer)
    endif
  })
enddef

# Follows a person in a buffer, until the user does anything there.
export def StartFollowing(note: dict<any>, peer: dict<any>)
  Go(note, peer)
  followed[note.bufnr] = {peer: peer.peer, name: peer.name, place: getcurpos()[1 : 2]}
enddef

export def StopFollowing(note: dict<any>)
  if followed->has_key(note->get('bufnr', -1))
    status.Say($'Stopped following {followed->remove(note.bufnr).name}')
  endif
enddef

export def IsFollowing(note: dict<any>): bool
  return followed->has_key(note->get('bufnr', -1))
enddef

# The user types, or has moved the cursor: stops following.
export def OnMoved(note: dict<any>)
  if IsFollowing(note) && (mode() !=# 'n' || getcurpos()[1 : 2] != followed[note.bufnr].place)
    StopFollowing(note)
  endif
enddef

def Follow(note: dict<any>)
  if note.bufnr != bufnr() || !IsFollowing(note) || mode(1) !=# 'n'
    return
  endif
  for peer in note.peers
    if peer.peer ==# followed[note.bufnr].peer && !empty(peer.ranges)
      Go(note, peer)
      followed[note.bufnr].place = getcurpos()[1 : 2]
      # Without a key, Vim would show the former place still.
      redrawstatus
    endif
  endfor
enddef

def Arrows(note: dict<any>): list<string>
  return note->get('peers', [])->mapnew((_, it) => it.name .. Arrow(note, it.name))
enddef

# An arrow for a person whose caret is above or below what the current window shows of the note.
export def Arrow(note: dict<any>, name: string): string
  for peer in note->get('peers', [])
    if peer.name ==# name && !empty(peer.ranges)
      # A place after a final newline is in a line that Vim does not show.
      const line = min([peer.ranges[-1].end.line + 1, line('$')])
      const arrows = &encoding ==# 'utf-8' ? ['↑', '↓'] : ['^', 'v']
      return line < line('w0') ? arrows[0] : line > line('w$') ? arrows[1] : ''
    endif
  endfor
  return ''
enddef
