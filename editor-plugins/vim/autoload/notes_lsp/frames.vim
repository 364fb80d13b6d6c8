vim9script
# Messages to bytes and back: the base protocol of LSP, over a raw channel.
#
# Vim has an "lsp" channel mode, but it silently drops a message whose rest takes longer than 100 ms to arrive. An edit
# lost that way would make the next one hit the wrong text.

const maximumHeader = 8192

# Bytes that are not a whole message yet. `need` is the length of the body, or -1 before its header is complete.
export def Reader(): dict<any>
  return {chunks: [], count: 0, need: -1}
enddef

# Stands for a NUL, which no string of Vim can hold; nor can a text of Unicode hold this.
export const nul = "\U110000"

export def Encode(message: dict<any>): string
  const json = json_encode(message->copy()->extend({jsonrpc: '2.0'}))
  const body = stridx(json, nul) < 0 ? json : Parts(json, nul)->join('\u0000')
  return $"Content-Length: {len(body)}\r\n\r\n{body}"
enddef

# What is between the separators, each of them one character.
export def Parts(text: string, separator: string): list<string>
  final parts = text->split(separator, true)
  # A pattern does not match a character with which a combining mark is combined.
  if len(parts) == count(text, separator) + 1
    return parts
  endif
  final all: list<string> = []
  var from = 0
  var end = stridx(text, separator)
  while end >= 0
    all->add(text->strpart(from, end - from))
    from = end + len(separator)
    end = stridx(text, separator, from)
  endwhile
  return all->add(text->strpart(from))
enddef

# The bodies that are complete with this chunk. Throws if the other side does not speak the protocol.
export def Receive(reader: dict<any>, chunk: string): list<string>
  reader.chunks->add(chunk)
  reader.count += len(chunk)
  var bodies: list<string> = []
  while ReadHeader(reader) && reader.count >= reader.need
    const received = reader.chunks->join('')
    bodies->add(received->strpart(0, reader.need))
    Keep(reader, received->strpart(reader.need))
    reader.need = -1
  endwhile
  return bodies
enddef

def Keep(reader: dict<any>, rest: string)
  reader.chunks = [rest]
  reader.count = len(rest)
enddef

# Whether the length of the next body is known.
def ReadHeader(reader: dict<any>): bool
  if reader.need >= 0
    return true
  endif
  const received = reader.chunks->join('')
  const end = stridx(received, "\r\n\r\n")
  if end < 0 && reader.count <= maximumHeader
    Keep(reader, received)
    return false
  endif
  const length = received->strpart(0, max([end, 0]))->matchstr('\c\%(^\|\n\)content-length:\s*\zs\d\+')
  if length == ''
    throw 'the service sent something that is not the protocol'
  endif
  reader.need = str2nr(length)
  Keep(reader, received->strpart(end + 4))
  return true
enddef
