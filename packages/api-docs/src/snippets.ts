import { readdirSync, readFileSync } from 'node:fs'

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

const purposes = Object.keys(snippetPurposes) as SnippetPurpose[]
const folder = (language: string) => new URL(`../snippets/${language}/`, import.meta.url)

/** The programs that lie in snippets/, which the tests execute: VerifyWebhook.java is to verify a webhook. */
function filesOf(language: string): Language['files'] {
  const words = (name: string) =>
    name
      .replace(/\.\w+$/, '')
      .replaceAll(/[-_]/g, '')
      .toLowerCase()
  const files = readdirSync(folder(language))
  const found = purposes.map((purpose) => [purpose, files.find((file) => words(file) === words(purpose))] as const)
  return Object.fromEntries(found.filter(([, file]) => file !== undefined))
}

/** Each signs and verifies. A whole receiver lies there in three languages, of which one has no process of its own. */
export const languages: readonly Language[] = (
  [
    ['node', 'Node.js / TypeScript', 'Node.js 20 or newer'],
    ['python', 'Python', 'Python 3.8 or newer'],
    ['php', 'PHP', 'PHP 7.4 or newer'],
    ['ruby', 'Ruby', 'Ruby 3.0 or newer'],
    ['java', 'Java', 'Java 17 or newer'],
    ['go', 'Go', 'Go 1.19 or newer'],
    ['csharp', 'C#', 'Mono, .NET Framework 4.6, .NET 6 or newer'],
    ['bash', 'Bash with openssl and curl', 'Bash 4, openssl, curl'],
  ] as const
).map(([id, name, runtime]) => ({ id, name, runtime, files: filesOf(id) }))

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
  return new URL(filename, folder(language))
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

/** What the programs that sign say otherwise to a provider: the same canonical string under another header. */
const saidToProviders: readonly (readonly [string, string])[] = [
  ['X-Operator-Key', 'X-Provider-Key'],
  ['OPERATOR_', 'PROVIDER_'],
  ['/api/v1 prefix', '/provider/v1/{brandId} prefix'],
  ['GET /me', 'GET /rounds?roundId=round-501'],
  [`POST /players '{"externalId":"user-42", …}' my-idempotency-key-1`, `POST /bets '{"transactionId":"bet-7001", …}'`],
  ['[BODY [IDEMPOTENCY_KEY]]', '[BODY]'],
]

/** The program of a language that signs, as a provider runs it. */
export const providerSnippet = (language: string): string =>
  saidToProviders.reduce((code, [was, is]) => code.replaceAll(was, is), snippetCode(language, 'sign-request') ?? '')

/** The programs that sign as a chapter of the providers' page, in Markdown. */
export function snippetsSection(): string {
  const programs = languages.map(
    ({ id, name, runtime }) =>
      `<details><summary>${name}</summary>\n\n${runtime}.\n\n\`\`\`${id}\n${providerSnippet(id)}\`\`\`\n\n</details>`,
  )
  return `## Programs that sign {#programs}\n\nEach needs nothing but the language, agrees with the [test vectors]({{baseUrl}}/test-vectors.json), and signs anew whenever it runs. \`BASE_URL\` ends with the brand. An \`Idempotency-Key\` is not read here: \`transactionId\` does its work.\n\n${programs.join('\n\n')}`
}
