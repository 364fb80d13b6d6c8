vim9script
# Connecting to a server, with a service that a test commands.

import './fake.vim'
import './verdict.vim'

const url = 'wss://notes.example/'

# Answers the question where a note shall go, and waits until the plugin has carried that out.
def Connect(keys: string, said: string)
  const count = len(fake.Told('notes/connect'))
  execute 'NotesConnect' url 'TOKEN'
  assert_equal({url: url, token: 'TOKEN'}, fake.WaitTold('notes/connect', count + 1))
  fake.Wait('the question', () => !empty(popup_list()))
  feedkeys(keys, 'xt')
  fake.Wait(said, () => execute('messages') =~ said)
  assert_equal([], popup_list())
enddef

def TheCurrentNoteIsPublishedIfTheUserWants()
  final note = fake.Note('Shopping', ['milk'])
  note.isUnshared = true
  Connect("j\<CR>", 'Published')
  assert_equal([{uri: note.uri, url: url}], fake.Told('notes/publish'))
  assert_equal('wss://host/#automerge:published', getreg('"'))
  assert_false(note.isUnshared)
enddef

def OtherwiseItStaysWithItsPeers()
  fake.Note('Garden', ['peas'])
  const count = len(fake.Told('notes/publish'))
  Connect("\<Space>", 'Connected to')
  execute 'NotesDisconnect' url
  assert_equal({url: url}, fake.WaitTold('notes/disconnect', 1))
  assert_equal(count, len(fake.Told('notes/publish')))
enddef

verdict.Run([
  ['TheCurrentNoteIsPublishedIfTheUserWants', TheCurrentNoteIsPublishedIfTheUserWants],
  ['OtherwiseItStaysWithItsPeers', OtherwiseItStaysWithItsPeers],
])
