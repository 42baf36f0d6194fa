import { en } from './en.ts'
import { ptBR } from './pt-br.ts'

export type Word = keyof typeof en
export type Words = Readonly<Record<Word, string>>

const catalogues = { 'pt-BR': ptBR, en } as const satisfies Record<string, Words>
export type Language = keyof typeof catalogues
export const languages = { 'pt-BR': 'Português', en: 'English' } as const satisfies Record<Language, string>

export const isLanguage = (value: unknown): value is Language =>
  typeof value === 'string' && Object.hasOwn(languages, value)
export const wordsIn = (language: Language): Words => catalogues[language]

/** The one that was chosen, or else what the browser asks for first; English for all others. */
export function languageOf(chosen: string | undefined, acceptLanguage: string | undefined): Language {
  if (isLanguage(chosen)) return chosen
  const first = acceptLanguage?.split(',')[0]?.trim().toLowerCase() ?? ''
  return first.startsWith('pt') ? 'pt-BR' : 'en'
}
