vim9script
# What is left of what others write, where it stands on one line.

import autoload 'notes_lsp/safe.vim'
import './verdict.vim'

def ControlsBecomeBlanksAndDirectionGoes()
  assert_equal('a b', safe.Line("\u202ea\u2066\u0085\u2069b\u200f"))
  assert_equal('a b c', safe.Line("a\n\r\tb\<Esc>\u009bc"))
  assert_equal('שלום مرحبا', safe.Line('שלום مرحبا'))
  assert_equal('', safe.Line(''))
enddef

# As the service sends it, with JSON's escapes.
def MessagesAreCleanedAndTextsAreNot()
  const words = "x\u202ey\u0085z\nw"
  const message = {
    result: {name: words, text: words, notes: [{title: words, peers: [words], match: {text: words, line: 1}}],
      hunks: [{author: words, newText: words}]},
  }
  const body = json_encode(message)
  const clean = safe.Clean(json_decode(body), body).result
  assert_equal('xy z w', clean.name)
  assert_equal(words, clean.text)
  assert_equal({title: 'xy z w', peers: ['xy z w'], match: {text: 'xy z w', line: 1}}, clean.notes[0])
  assert_equal({author: 'xy z w', newText: words}, clean.hunks[0])
  # An edit is the text itself.
  const edit = {method: 'notes/edit', params: {message: words}}
  assert_equal(edit, safe.Clean(json_decode(json_encode(edit)), json_encode(edit)))
enddef

verdict.Run([
  ['ControlsBecomeBlanksAndDirectionGoes', ControlsBecomeBlanksAndDirectionGoes],
  ['MessagesAreCleanedAndTextsAreNot', MessagesAreCleanedAndTextsAreNot],
])
