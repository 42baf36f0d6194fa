import { en } from './en.ts'
import { ptBR } from './pt-br.ts'
import { ptBRSentences } from './pt-br-sentences.ts'

export type Word = keyof typeof en
export type Words = Readonly<Record<Word, string>>

const catalogues = { 'pt-BR': ptBR, en } as const satisfies Record<string, Words>
export type Language = keyof typeof catalogues
export const languages = { 'pt-BR': 'Português', en: 'English' } as const satisfies Record<Language, string>

export const isLanguage = (value: unknown): value is Language =>
  typeof value === 'string' && Object.hasOwn(languages, value)
export const wordsIn = (language: Language): Words => catalogues[language]

/** What services say in whole sentences, which are in English. */
const sentences: Readonly<Record<Language, typeof ptBRSentences>> = { 'pt-BR': ptBRSentences, en: [] }

/** A sentence of a service in a language; as it is where the catalogue does not have it. */
export function sentenceIn(language: Language, text: string): string {
  const known = sentences[language].find(([english]) =>
    typeof english === 'string' ? english === text : english.test(text),
  )
  return known === undefined ? text : text.replace(...known)
}

/** The one that was chosen, or else what the browser asks for first; English for all others. */
export function languageOf(chosen: string | undefined, acceptLanguage: string | undefined): Language {
  if (isLanguage(chosen)) return chosen
  const first = acceptLanguage?.split(',')[0]?.trim().toLowerCase() ?? ''
  return first.startsWith('pt') ? 'pt-BR' : 'en'
}
