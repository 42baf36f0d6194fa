import { httpOperations, type Operation } from '@backoffice/contracts'
import { escapeHtml, highlight } from './highlight.ts'
import { breakable } from './render-markdown.ts'
import { sampleLanguages, sampleOf } from './samples.ts'
import { defaultLanguage, docsPath } from './served.ts'

/** The page that shows the samples of a language without JavaScript. */
export const languagePath = (languageId: string): string =>
  languageId === defaultLanguage ? docsPath : `${docsPath}/languages/${languageId}`

/** The operations that have samples: all that are signed. */
export const sampledOperations: readonly Operation[] = httpOperations.filter(({ audience }) => audience !== 'public')

interface Chosen {
  readonly languageId: string
  readonly baseUrl: string
}

/** The samples of one operation: the chosen language, and tabs that are links to the pages of the others. */
export function samplePanel({ id, http }: Operation, { languageId, baseUrl }: Chosen): string {
  const tabs = sampleLanguages.map((language) => {
    const current = language.id === languageId ? ' aria-current="true"' : ''
    const href = `${languagePath(language.id)}#${id.toLowerCase()}`
    return `<li><a href="${href}" data-language="${language.id}"${current}>${escapeHtml(language.name)}</a></li>`
  })
  return [
    `<figure class="panel sample" data-operation="${id}">`,
    `<figcaption><span class="method ${http?.method.toLowerCase()}">${http?.method}</span> <code>${breakable(http?.path ?? '')}</code></figcaption>`,
    `<ul class="tabs" aria-label="Language of the sample">${tabs.join('')}</ul>`,
    `<pre>${sampleCode(id, { languageId, baseUrl })}</pre></figure>\n`,
  ].join('')
}

/** Every sample of one language, from which the page takes them when a reader chooses it. */
export function sampleDocument(chosen: Chosen): string {
  const samples = sampledOperations.map(({ id }) => `<pre>${sampleCode(id, chosen)}</pre>`)
  return `<!doctype html>\n<meta charset="utf-8">\n<title>${chosen.languageId}</title>\n${samples.join('\n')}\n`
}

function sampleCode(operationId: string, { languageId, baseUrl }: Chosen): string {
  const language = sampleLanguages.find(({ id }) => id === languageId)?.highlight ?? ''
  const html = highlight(sampleOf(languageId, operationId, { baseUrl }), language)
  return `<code data-operation="${operationId}">${html.trimEnd()}</code>`
}
