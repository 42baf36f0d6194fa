import { absentWords } from './absent.ts'
import { generalWords } from './general.ts'
import { listWords, portugueseDeliverySentences, portuguesePatterns } from './lists.ts'
import { moneyWords } from './money.ts'
import { peopleWords } from './people.ts'
import { pictureWords } from './pictures.ts'
import { englishPlaySentences, playWords, portuguesePlaySentences } from './play.ts'
import { recordWords } from './records.ts'
import { englishSentences, portugueseSentences, refusalWords } from './refusals.ts'

/** A text in each language. */
type Text = readonly [english: string, portuguese: string]
export type Words = Readonly<Record<string, Text>>

const catalogues = [
  generalWords,
  listWords,
  recordWords,
  refusalWords,
  moneyWords,
  peopleWords,
  playWords,
  pictureWords,
] as const satisfies readonly Words[]
type Names<Catalogue> = Catalogue extends unknown ? keyof Catalogue : never
export type Word = Names<(typeof catalogues)[number]>

/** The names that several of them have: the text of the later one would take the place of the other. */
type Repeated<Catalogues> = Catalogues extends readonly [infer First, ...infer Others]
  ? (keyof First & Names<Others[number]>) | Repeated<Others>
  : never
// Where a name is repeated this does not compile, and names it.
true satisfies [Repeated<typeof catalogues>] extends [never] ? true : Repeated<typeof catalogues>

/** Every text of the pages. */
const words: Words = Object.assign({}, absentWords, ...catalogues)

/** English, and Portuguese of Brazil. */
export type Language = 'en' | 'pt-BR'
export const isLanguage = (value: unknown): value is Language => value === 'en' || value === 'pt-BR'

/** A text of the catalogue; undefined for a name that it does not have. */
export function textIn(language: Language, name: string): string | undefined {
  const [english, portuguese] = words[name] ?? []
  return language === 'en' ? english : portuguese
}

/** A sentence of a service in a language; as it is where the catalogue does not have it. */
export function sentenceIn(language: Language, text: string): string {
  if (language === 'en') return englishSentences[text] ?? englishPlaySentences[text] ?? text
  const pattern = portuguesePatterns.find(([said]) => said.test(text))
  return (
    portugueseSentences[text] ??
    portuguesePlaySentences[text] ??
    portugueseDeliverySentences[text] ??
    (pattern === undefined ? text : filledIn(pattern[1], pattern[0].exec(text) ?? []))
  )
}

/** What a pattern names may be a sentence, too. */
const filledIn = (portuguese: string, named: readonly string[]): string =>
  portuguese.replaceAll(/\$(\d)/g, (_, place) => sentenceIn('pt-BR', named[Number(place)] ?? ''))

/** The one that was chosen, or else what the browser asks for first; English for all others. */
export function languageOf(chosen: string | undefined, acceptLanguage: string | undefined): Language {
  if (isLanguage(chosen)) return chosen
  const first = acceptLanguage?.split(',')[0]?.trim().toLowerCase() ?? ''
  return first.startsWith('pt') ? 'pt-BR' : 'en'
}
