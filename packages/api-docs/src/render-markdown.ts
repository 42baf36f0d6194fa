import { posix } from 'node:path'
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
import { Marked, type Token, type Tokens } from 'marked'
import customHeadingId from 'marked-custom-heading-id'
import { gfmHeadingId } from 'marked-gfm-heading-id'
import { markedHighlight } from 'marked-highlight'
import { type ServedSurface, servedOperators } from './served.ts'

/** Code with the label that stood in front of it. */
type LabelledCode = Tokens.Code & { readonly label?: string }

interface Rendering {
  /** The file that the text comes from, from the root of the repository: its links start there. */
  readonly file: string
  /** Puts code into a column of its own, beside the text. An article keeps its code where it stands. */
  readonly codeBeside?: boolean
  /** Whose pages its links may lead to. */
  readonly surface?: ServedSurface
}

/**
 * Markdown as HTML: a `<section>` for each heading up to level 3, with `.text` and, beside it, `.code`.
 * @throws if a link leads to a file that is no page
 */
export function renderMarkdown(markdown: string, rendering: Rendering): string {
  const marked = new Marked(markedHighlight({ highlight }), gfmHeadingId(), customHeadingId(), {
    renderer: {
      code({ text, lang = '', escaped, label }: LabelledCode) {
        return codePanel({ label: label ?? languageName(lang), html: escaped ? text : escapeHtml(text) })
      },
      table({ header, rows }) {
        const inner = (cell: Tokens.TableCell) => this.parser.parseInline(cell.tokens)
        return table(
          header.map(inner),
          rows.map((row) => row.map(inner)),
        )
      },
      link({ href, tokens }) {
        return `<a href="${escapeHtml(address(href, rendering))}">${this.parser.parseInline(tokens)}</a>`
      },
    },
    hooks: { processAllTokens: (tokens) => inSections(tokens, rendering) },
  })
  return marked
    .parse(markdown, { async: false })
    .replaceAll(heading, linked)
    .replaceAll(inlineCodes, (_, text: string) => inlineCode(text))
}

/** Code in a frame with a caption. Both are HTML. */
function codePanel({ label, html }: { readonly label: string; readonly html: string }): string {
  return `<figure class="panel"><figcaption>${label}</figcaption><pre><code>${html.trimEnd()}</code></pre></figure>\n`
}

/**
 * The first cell of a row names the row. A column without a name has no header cell, which would be empty. On a phone
 * the rows of three or four columns are stacked, and the fourth cell says there what it is. What is to be checked can be
 * ticked.
 */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const column = (cell: string) => (cell === '' ? '<td></td>' : `<th scope="col">${cell}</th>`)
  const [first] = header
  const isChecklist = first === 'Check'
  const stacked = isChecklist || header.length === 3 || header.length === 4
  const name = (place: number) =>
    stacked && place === 3 ? ` data-column="${header[place]?.replaceAll(/<[^>]*>/g, '')}"` : ''
  const named = (cell = '') => (isChecklist ? `<label><input type="checkbox"><span>${cell}</span></label>` : cell)
  const line = ([row, ...rest]: readonly string[]) =>
    `<tr><th scope="row">${named(row)}</th>${rest.map((cell, index) => `<td${name(index + 1)}>${cell}</td>`).join('')}</tr>`
  const head = header.every((cell) => cell === '') ? '' : `<thead><tr>${header.map(column).join('')}</tr></thead>`
  const kind = ['table', ...(stacked ? ['stacked'] : []), ...(isChecklist ? ['checklist'] : [])].join(' ')
  return `<div class="${kind}"><table>${head}<tbody>${rows.map(line).join('\n')}</tbody></table></div>\n`
}

/** Links between documents lead from page to page. */
function address(href: string, { file: from, surface = servedOperators }: Rendering): string {
  if (/^(https?:|mailto:|#|\/)/.test(href)) return href
  const [path = '', fragment] = href.split('#')
  const file = posix.join(posix.dirname(from), path)
  const { docsPath, guideFile, pages } = surface
  const page = pages.find((candidate) => candidate.file === file)
  if (page === undefined && file !== guideFile) throw new Error(`${from} links to ${href}, which is no page`)
  return `${docsPath}${page === undefined ? '' : `/${page.path}`}${fragment === undefined ? '' : `#${fragment}`}`
}

const heading = /<h([2-4]) id="([^"]+)">((?:(?!<a ).)*?)<\/h\1>/g

/** A heading is a link to itself, for those who want to pass it on. On a phone the name of an error may need two lines. */
const linked = (_: string, level: string, id: string, text: string) =>
  `<h${level} id="${id}"><a href="#${id}">${text.replaceAll(/_(?=[A-Z])/g, '_<wbr>')}</a></h${level}>`

const inlineCodes = /(?<!<pre>)<code>([^<]*)<\/code>/g
/** What is not longer stays in one line, on a phone as well. */
const unbrokenLengthMax = 36

/**
 * A line may end between the words of long code and behind the slash of a path, and nowhere else inside a code: each
 * part is an element, since a browser would break it behind a hyphen.
 */
function inlineCode(text: string): string {
  if (text.length <= unbrokenLengthMax) return `<code>${text}</code>`
  const parts = (word: string) =>
    breakable(word)
      .split('<wbr>')
      .map((part) => `<span>${part}</span>`)
  return `<code class="long">${text.replaceAll(/[^ ]+/g, (word) => parts(word).join('<wbr>'))}</code>`
}

/** A path that may go on in the next line behind each slash. */
export const breakable = (path: string): string => path.replaceAll(/\/(?=[\w{])/g, '/<wbr>')

const html = (text: string): Tokens.HTML => ({ type: 'html', raw: text, text, block: true, pre: false })
const label = /^<p class="label">(.*)<\/p>\s*$/

/** The tokens of each heading and what follows it, between the tags of a section. */
function inSections(tokens: readonly Token[], rendering: Rendering): Token[] {
  const sections: Token[][] = [[]]
  for (const token of tokens) {
    if (token.type === 'heading' && token.depth <= 3) sections.push([])
    sections.at(-1)?.push(token)
  }
  return sections.filter((section) => section.length > 0).flatMap((section) => inColumns(section, rendering))
}

/** Samples and what has a label belong into the code column, and so does code that is the only one of its section. */
function inColumns(section: readonly Token[], { codeBeside = false }: Rendering): Token[] {
  const labelled = withLabels(section)
  const alone = labelled.filter(({ type }) => type === 'code').length === 1
  const isSample = (token: Token) => token.type === 'html' && token.raw.startsWith('<!--sample ')
  const beside = (token: Token) =>
    codeBeside && (isSample(token) || (token.type === 'code' && (alone || 'label' in token)))
  const [text, code] = [labelled.filter((token) => !beside(token)), labelled.filter(beside)]
  if (code.length === 0) return [html('<section><div class="text">'), ...text, html('</div></section>\n')]
  const columns = [html('</div><div class="code"><div>'), ...code]
  return [html('<section><div class="text">'), ...text, ...columns, html('</div></div></section>\n')]
}

/** A label in front of code becomes the caption of its panel. */
function withLabels(tokens: readonly Token[]): Token[] {
  const result: Token[] = []
  let caption: string | undefined
  for (const token of tokens) {
    const found = token.type === 'html' ? label.exec(token.raw)?.[1] : undefined
    if (token.type === 'space' && caption !== undefined) continue
    if (caption !== undefined && token.type !== 'code') result.push(html(`<p class="label">${caption}</p>\n`))
    if (found === undefined)
      result.push(caption !== undefined && token.type === 'code' ? { ...token, label: caption } : token)
    caption = found
  }
  if (caption !== undefined) result.push(html(`<p class="label">${caption}</p>\n`))
  return result
}

// Those that the documents use; each costs memory. Aliases such as `sh` and `ts` come with them.
const languages = { bash, csharp, go, http, java, javascript, json, php, python, ruby, typescript }
for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language)
highlighter.registerAliases('node', { languageName: 'typescript' })

/** How a reader knows a language. */
const languageName = (language: string): string =>
  ({ bash: 'Shell', sh: 'Shell', node: 'Node.js' })[language] ?? highlighter.getLanguage(language)?.name ?? 'Text'

/** The code as HTML with class names, so that the page needs no style attributes. */
export function highlight(code: string, language: string): string {
  if (highlighter.getLanguage(language) === undefined) return escapeHtml(code)
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? '')
