import highlighter from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import csharp from 'highlight.js/lib/languages/csharp'
import go from 'highlight.js/lib/languages/go'
import http from 'highlight.js/lib/languages/http'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import typescript from 'highlight.js/lib/languages/typescript'

// Those that the documents use; each costs memory. Aliases such as `sh` and `ts` come with them.
const languages = { bash, csharp, go, http, java, javascript, json, php, python, ruby, typescript }
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language)
highlighter.registerAliases('node', { languageName: 'typescript' })

/** How a reader knows them, where that is not the name itself. */
const names: Readonly<Record<string, string>> = {
  bash: 'Shell',
  sh: 'Shell',
  csharp: 'C#',
  go: 'Go',
  http: 'HTTP',
  java: 'Java',
  javascript: 'JavaScript',
  json: 'JSON',
  node: 'Node.js',
  php: 'PHP',
  python: 'Python',
  ruby: 'Ruby',
  typescript: 'TypeScript',
}

export const languageName = (language: string): string => names[language] ?? 'Text'

/** The code as HTML with class names, so that the page needs no style attributes. */
export function highlight(code: string, language: string): string {
  if (highlighter.getLanguage(language) === undefined) return escapeHtml(code)
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '')
