import { httpOperations } from '@backoffice/contracts'
import { breakable, escapeHtml, highlight } from './render-markdown.ts'
import { sampleLanguages, sampleOf } from './samples.ts'
import { defaultLanguage, docsPath, type SampleLanguageId, sampleLanguageIds } from './served.ts'
import { type SnippetPurpose, snippetCode, snippetPurposes } from './snippets.ts'

/** The page that shows the samples of a language without JavaScript. */
export const languagePath = (languageId: string): string =>
  languageId === defaultLanguage ? docsPath : `${docsPath}/languages/${languageId}`

/** Something that programs in several languages do. The pages have the samples of one language at a time. */
interface Sampled {
  readonly id: string
  /** HTML. */
  readonly caption: string
  /** Of the section whose column has the samples. */
  readonly anchor: string
  codeIn(languageId: SampleLanguageId, baseUrl: string): string | undefined
}

interface Chosen {
  readonly languageId: SampleLanguageId
  readonly baseUrl: string
}

/** What stands in for a language that has no program for a purpose. */
const substitute = 'node'

const ofOperations = httpOperations
  .filter(({ audience }) => audience !== 'public')
  .map(
    ({ id, http }): Sampled => ({
      id,
      caption: `<span class="method ${http?.method.toLowerCase()}">${http?.method}</span> <code>${breakable(http?.path ?? '')}</code>`,
      anchor: id.toLowerCase(),
      codeIn: (languageId, baseUrl) => sampleOf(languageId, id, { baseUrl }),
    }),
  )

const anchors: Readonly<Record<SnippetPurpose, string>> = {
  'sign-request': 'signing',
  'verify-webhook': 'webhooks',
  'receive-webhook': 'a-receiver',
}
const ofPrograms = (Object.keys(anchors) as SnippetPurpose[]).map(
  (purpose): Sampled => ({
    id: purpose,
    caption: snippetPurposes[purpose].replace(/^./, (letter) => letter.toUpperCase()),
    anchor: anchors[purpose],
    codeIn: (languageId) => snippetCode(languageId === 'curl' ? 'bash' : languageId, purpose),
  }),
)

/** All that has samples: every signed operation, and the programs that sign and that receive. */
export const allSampled: readonly Sampled[] = [...ofPrograms, ...ofOperations]

/** Stands in Markdown where the samples go. */
export const sampleMark = (id: string): string => `<!--sample ${id}-->`

/** The samples in place of their marks. */
export function withSamples(html: string, chosen: Chosen): string {
  return html.replaceAll(/<!--sample ([\w-]+)-->/g, (mark, id: string) => {
    const sampled = allSampled.find((candidate) => candidate.id === id)
    if (sampled === undefined) throw new Error(`there is nothing for ${mark}`)
    return samplePanel(sampled, chosen)
  })
}

/** The samples of one thing: the chosen language, and tabs that are links to the pages of the others. */
function samplePanel(sampled: Sampled, { languageId, baseUrl }: Chosen): string {
  const { id, caption, anchor } = sampled
  const shown = shownLanguage(sampled, languageId)
  const offered = sampleLanguageIds.filter((language) => sampled.codeIn(language, baseUrl) !== undefined)
  const tabs = offered.map((language) => {
    const current = language === shown ? ' aria-current="true"' : ''
    const href = `${languagePath(language)}#${anchor}`
    const name = escapeHtml(languageOf(language)?.name ?? language)
    return `<li><a href="${href}" data-language="${language}"${current}>${name}</a></li>`
  })
  return [
    `<figure class="panel sample" data-sample="${id}">`,
    `<figcaption>${caption}</figcaption>`,
    `<ul class="tabs" aria-label="Language of the sample">${tabs.join('')}</ul>`,
    `<pre>${sampleCode(sampled, { languageId, baseUrl })}</pre></figure>\n`,
  ].join('')
}

/** Every sample of one language, from which the page takes them when a reader chooses it. */
export function sampleDocument(chosen: Chosen): string {
  const samples = allSampled.map((sampled) => `<pre>${sampleCode(sampled, chosen)}</pre>`)
  return `<!doctype html>\n<meta charset="utf-8">\n<title>${chosen.languageId}</title>\n${samples.join('\n')}\n`
}

const languageOf = (languageId: SampleLanguageId) => sampleLanguages.find(({ id }) => id === languageId)

const shownLanguage = (sampled: Sampled, languageId: SampleLanguageId): SampleLanguageId =>
  sampled.codeIn(languageId, '') === undefined ? substitute : languageId

function sampleCode(sampled: Sampled, { languageId, baseUrl }: Chosen): string {
  const shown = shownLanguage(sampled, languageId)
  const html = highlight(sampled.codeIn(shown, baseUrl) ?? '', languageOf(shown)?.highlight ?? '')
  return `<code data-sample="${sampled.id}" data-language="${shown}">${html.trimEnd()}</code>`
}
