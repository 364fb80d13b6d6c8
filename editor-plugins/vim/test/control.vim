vim9script
# Lets a test drive a real Vim: source this with NOTES_TEST_PORT set, and Vim dials 127.0.0.1:port and takes Vim's own
# channel messages, one JSON list each: ["expr", code, -n] is answered with [-n, value]; also ["ex", command],
# ["normal", keys], ["call", function, arguments, -n].
#
#   NotesTestState()           the current buffer as the plugin sees it
#   NotesTestRandomCommand(n)  types one command; the same number always gives the same keys
#   NotesTestReceive(m)  takes m for a message of the service
#   NotesTestSettle()          ends what is half typed, so that nothing is pending

import autoload 'notes_lsp/buffer.vim'
import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/incoming.vim'
import autoload 'notes_lsp/service.vim'
import autoload 'notes_lsp/text.vim'

var seed: list<number> = []
# The rest of a command of which only the first keys have been typed.
var rest = ''
# Milliseconds that a slow typist takes in the middle of a command.
const hesitation = 30

def g:NotesTestState(): dict<any>
  const note = buffer.Of(bufnr())
  const lines = text.OfBuffer(bufnr(), false)
  return {
    text: lines->join("\n"),
    version: note->get('version', -1),
    rev: note->get('rev', -1),
    synced: note->get('info', {})->get('synced', false) && rest == '' && !gate.IsUnsafe(),
    queue: note->get('queue', [])->len(),
    mode: mode(1),
    state: state(),
    isShadowRight: note->get('shadow', []) == lines,
    peers: note->get('peers', [])->mapnew((_, it) => it.name),
    service: service.State(),
    messages: execute('messages'),
  }
enddef

# Does what the service would bring about by this message.
def g:NotesTestReceive(body: string): bool
  incoming.Take(body)
  return true
enddef

def g:NotesTestSettle(): bool
  feedkeys(rest .. "\<C-\>\<C-n>", 't')
  rest = ''
  return true
enddef

def g:NotesTestRandomCommand(number: number): string
  seed = srand(number)
  # What was left half typed is finished first, so that the keys are the same however fast the test goes.
  const before = rest
  rest = ''
  const keys = Keys()
  const parts = keys->split('<PAUSE>', true)
  feedkeys(before .. "\<C-\>\<C-n>" .. parts[0], 't')
  if len(parts) > 1
    rest = parts[1]
    timer_start(hesitation, (_) => {
      const left = rest
      rest = ''
      feedkeys(left, 't')
    })
  endif
  return keys->strtrans()->strcharpart(0, 60)
enddef

def Below(limit: number): number
  return rand(seed) % limit
enddef

def One(choices: list<string>): string
  return choices[Below(len(choices))]
enddef

const words = [
  'one', 'two ', 'three, ', ' four', 'x', 'grün', "e\u0301a", "日本", "😀", "👩\u200d👩\u200d👧", "a\u0308\u0323", '𝔘𝔫',
  '12 ', '-7', "\t", ' ',
]

def Words(): string
  return range(Below(4) + 1)->mapnew((_, _) => One(words))->join('')
enddef

def OneLine(): string
  return Words()->substitute('[[:cntrl:]]', '', 'g')
enddef

# A place to be: a line of the buffer, and a column in it.
def Somewhere(): string
  return $"{Below(max([line('$'), 1])) + 1}G" .. (Below(3) == 0 ? One(['0', '$', '^']) : $'{Below(30) + 1}|')
enddef

const operators = ['d', 'c', 'gU', 'g~', '>', 'J']
const motions = ['w', 'iw', 'b', 'e', '$', '0', 'j', 'k', 'G', 'ip', 'f ']

# The keys of one random command. <PAUSE> marks where a person might hesitate.
def Keys(): string
  const count = One(['', '', '', '2', '3'])
  const commands: list<func(): string> = [
    () => $"i{Words()}\<Esc>",
    () => $"a{Words()}<PAUSE>{Words()}\<Esc>",
    () => $"A{Words()}\<CR>{Words()}\<Esc>",
    () => $"i{Words()}\<BS>\<BS>\<C-w>{Words()}\<Esc>",
    () => $"o{Words()}\<Esc>",
    () => $"O{Words()}\<CR>\<Esc>",
    () => $"{count}dd",
    () => $"{count}x",
    () => $"{count}dw",
    () => $"{count}yy{One(['p', 'P'])}",
    () => "ddp",
    () => "D",
    () => $"d<PAUSE>{One(motions)}",
    () => $"c{One(['w', 'iw', '$', 'c'])}{Words()}<PAUSE>{Words()}\<Esc>",
    () => $"R{Words()}\<Esc>",
    () => $"r<PAUSE>{One(['z', 'é', "\<CR>"])}",
    () => $"{count}J",
    () => $"{count}~",
    () => $"{Below(20) + 1}\<C-a>",
    () => $"v<PAUSE>{One(motions)}{One(['d', 'U', 'y', 'p'])}",
    () => $"V{One(['', 'j', 'k', 'G'])}{One(['d', '>', 'J', 'y', 'gq'])}",
    () => $"\<C-v>{One(['', 'j', '2j'])}{One(['', 'l', '$'])}<PAUSE>I{OneLine()}\<Esc>",
    () => $"\<C-v>{One(['', 'j', '2j'])}{One(['', 'l', '$'])}A<PAUSE>{OneLine()}\<Esc>",
    () => $":silent! s/{One(['o', 'e', '\w\+', '$', '^'])}/{One(['', '0', '&&', 'ü', '\r'])}/{One(['', 'g'])}\<CR>",
    () => $":silent! %s/{One(['one', 'x', ' '])}/{One(['y', '', '😀'])}/g\<CR>",
    () => $":silent! g/{One(['one', '^$', 'two'])}/{One(['d', 's/o/0/', 'm0', 't.'])}\<CR>",
    () => ":silent! 1,20sort\<CR>",
    () => $":silent! {Below(max([line('$'), 1])) + 1}<PAUSE>d\<CR>",
    () => "gqap",
    () => "gqj",
    () => $"\"zP",
    () => $"{One(['u', 'U', "\<C-r>", "g-", "g+"])}",
    () => ":silent! undo\<CR>",
    () => ":silent! w\<CR>:silent! e!\<CR>",
    () => $":silent! t{Below(max([line('$'), 1]))}\<CR>",
    () => $":silent! m{Below(max([line('$'), 1]))}\<CR>",
    () => "i\<C-n><PAUSE>\<C-n>\<C-y>\<Esc>",
    () => $"qq{One(['x', 'Aq'])}\<Esc>q{count}@q",
    () => ".",
    () => Below(8) == 0 ? 'ggdG' : $"o{Words()}\<Esc>",
    () => $":silent! call setline(1, '{One(['', 'set by a script', '日本'])}')\<CR>",
    BigPaste,
  ]
  setreg('z', "pasted one\npasted 😀 two\n", Below(2) == 0 ? 'V' : 'v')
  return Somewhere() .. commands[Below(len(commands))]()
enddef

# Many lines at once, now and then ten thousand; a note that has grown huge is cut, for the sake of the other commands.
def BigPaste(): string
  if line('$') > 12000
    return ":silent! 300,$d\<CR>"
  endif
  const count = Below(12) == 0 ? 10000 : 20
  setreg('y', range(count)->mapnew((_, it) => $'line {it} {it % 7 == 0 ? "日本" : "text"}'), 'V')
  return '"yp'
enddef

# Kept here, for a channel that nothing refers to is closed.
var channel: channel
if $NOTES_TEST_PORT != ''
  channel = ch_open($'127.0.0.1:{$NOTES_TEST_PORT}', {mode: 'json', waittime: 5000})
  if ch_status(channel) !=# 'open'
    cquit!
  endif
endif
