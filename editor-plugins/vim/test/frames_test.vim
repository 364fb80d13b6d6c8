vim9script
# The framing of messages, in whatever pieces they come.

import autoload 'notes_lsp/frames.vim'
import './verdict.vim'

def MessagesComeBackWholeFromAnyPieces()
  const texts = ['', 'a', 'é😀', "\r\n\r\n", 'Content-Length: 5', repeat('日本', 3000)]
  const stream = texts->mapnew((_, it) => frames.Encode({method: 'm', params: {text: it}}))->join('')
  for size in [1, 2, 7, 64, 4096, 1000000]
    final reader = frames.Reader()
    var bodies: list<string> = []
    var at = 0
    while at < len(stream)
      bodies->extend(frames.Receive(reader, stream->strpart(at, size)))
      at += size
    endwhile
    assert_equal(texts, bodies->mapnew((_, it) => json_decode(it).params.text), $'in pieces of {size}')
  endfor
enddef

def ANulIsWrittenAsOneEvenBeforeACombiningMark()
  const encoded = frames.Encode({text: $"a{frames.nul}\u0323b"})
  assert_equal(1, count(encoded, '\u0000'))
  assert_equal(0, count(encoded, frames.nul))
enddef

def HeadersMayComeInAnyOrderAndCase()
  final reader = frames.Reader()
  assert_equal(['{}'], frames.Receive(reader, "Content-Type: x\r\ncontent-length:   2\r\nOther: 3\r\n\r\n{}"))
  assert_equal([], frames.Receive(reader, "X-Content-Length: 9\r\nContent-Len"))
  assert_equal(['[]'], frames.Receive(reader, "gth: 2\r\n\r\n[]"))
enddef

def WhatIsNotTheProtocolIsRefused()
  for bad in ["no length\r\n\r\n{}", repeat('x', 9000)]
    var refused = false
    try
      frames.Receive(frames.Reader(), bad)
    catch /not the protocol/
      refused = true
    endtry
    assert_true(refused, bad->strpart(0, 20))
  endfor
enddef

verdict.Run([
  ['ANulIsWrittenAsOneEvenBeforeACombiningMark', ANulIsWrittenAsOneEvenBeforeACombiningMark],
  ['MessagesComeBackWholeFromAnyPieces', MessagesComeBackWholeFromAnyPieces],
  ['HeadersMayComeInAnyOrderAndCase', HeadersMayComeInAnyOrderAndCase],
  ['WhatIsNotTheProtocolIsRefused', WhatIsNotTheProtocolIsRefused],
])
