vim9script
# The user chooses which text of a document of another program to edit.

import autoload 'notes_lsp/gate.vim'
import autoload 'notes_lsp/status.vim'

# Whether the service refuses because there are several texts, so that the user must choose.
export def IsAsked(answer: dict<any>): bool
  return !empty(Texts(answer))
enddef

# Offers the texts of such an answer; `Take` gets the path of the one that is chosen.
export def Show(answer: dict<any>, Take: func(string))
  const texts = Texts(answer)
  const lines = texts->mapnew((_, it) => status.Cleaned($'{it.text}  {it.start}'))
  final options = {title: ' Text to edit ', maxheight: &lines - 4, maxwidth: &columns - 4, wrap: false,
    callback: (_, choice) => {
      if choice > 0
        Take(texts[choice - 1].text)
      endif
    }}
  gate.WhenIdle(() => popup_menu(lines, options))
enddef

def Texts(answer: dict<any>): list<any>
  const data = answer->get('error', {})->get('data', {})
  return type(data) == v:t_dict && data->get('kind', '') ==# 'chooseText' ? data.texts : []
enddef
