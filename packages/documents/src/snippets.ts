import { readFileSync } from 'node:fs'

/** What the programs do, in the order in which an integration needs them. */
export const snippetPurposes = {
  'sign-request': 'sign a request',
  'verify-webhook': 'verify a webhook',
  'receive-webhook': 'receive webhooks',
} as const
export type SnippetPurpose = keyof typeof snippetPurposes

interface Language {
  readonly id: string
  readonly name: string
  /** What runs the files, shown to the reader. */
  readonly runtime: string
  readonly files: { readonly [Purpose in SnippetPurpose]?: string }
}

const named = (filename: (purpose: string) => string, more: readonly SnippetPurpose[] = []): Language['files'] =>
  Object.fromEntries(['sign-request', 'verify-webhook', ...more].map((purpose) => [purpose, filename(purpose)]))
/** A whole receiver in three languages, of which one has no process of its own. */
const receiver = ['receive-webhook'] as const
const snakeCase = (purpose: string) => purpose.replace('-', '_')
const pascalCase = (purpose: string) => purpose.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())

/** The files stand in snippets/, as the programs that the tests execute. */
export const languages: readonly Language[] = [
  {
    ...{ id: 'node', name: 'Node.js / TypeScript', runtime: 'Node.js 20 or newer' },
    files: named((purpose) => `${purpose}.mjs`, receiver),
  },
  {
    ...{ id: 'python', name: 'Python', runtime: 'Python 3.8 or newer' },
    files: named((purpose) => `${snakeCase(purpose)}.py`, receiver),
  },
  { ...{ id: 'php', name: 'PHP', runtime: 'PHP 7.4 or newer' }, files: named((purpose) => `${purpose}.php`, receiver) },
  {
    ...{ id: 'ruby', name: 'Ruby', runtime: 'Ruby 3.0 or newer' },
    files: named((purpose) => `${snakeCase(purpose)}.rb`),
  },
  {
    ...{ id: 'java', name: 'Java', runtime: 'Java 17 or newer' },
    files: named((purpose) => `${pascalCase(purpose)}.java`),
  },
  { ...{ id: 'go', name: 'Go', runtime: 'Go 1.19 or newer' }, files: named((purpose) => `${snakeCase(purpose)}.go`) },
  {
    ...{ id: 'csharp', name: 'C#', runtime: 'Mono, .NET Framework 4.6, .NET 6 or newer' },
    files: named((purpose) => `${pascalCase(purpose)}.cs`),
  },
  {
    ...{ id: 'bash', name: 'Bash with openssl and curl', runtime: 'Bash 4, openssl, curl' },
    files: named((purpose) => `${purpose}.sh`),
  },
]

export interface Snippet {
  readonly language: string
  readonly name: string
  readonly purpose: SnippetPurpose
  readonly filename: string
  readonly runtime: string
  readonly code: string
}

/** The program of a language for a purpose, if there is one. */
export function snippetCode(language: string, purpose: SnippetPurpose): string | undefined {
  const filename = languages.find(({ id }) => id === language)?.files[purpose]
  return filename === undefined ? undefined : readFileSync(snippetFile(language, filename), 'utf8')
}

/** Where a snippet's file is, for those who run it. */
export function snippetFile(language: string, filename: string): URL {
  return new URL(`../snippets/${language}/${filename}`, import.meta.url)
}

/** Code to sign requests and to verify webhooks in every language that we test, and to receive them in three. */
export function signingSnippets(): { readonly snippets: readonly Snippet[] } {
  return {
    snippets: languages.flatMap(({ id, name, runtime, files }) =>
      Object.entries(files).map(([purpose, filename]) => ({
        language: id,
        name,
        purpose: purpose as SnippetPurpose,
        filename,
        runtime,
        code: readFileSync(snippetFile(id, filename), 'utf8'),
      })),
    ),
  }
}
