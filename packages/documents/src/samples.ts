import { signingSnippets } from './snippets.ts'

/** The languages of the samples, in the order of the tabs. `highlight` is the name that highlight.js gives it. */
export const sampleLanguages: readonly { readonly id: string; readonly name: string; readonly highlight: string }[] = [
  { id: 'curl', name: 'curl', highlight: 'bash' },
  { id: 'node', name: 'Node.js', highlight: 'javascript' },
  { id: 'client', name: 'TypeScript client', highlight: 'typescript' },
  { id: 'python', name: 'Python', highlight: 'python' },
  { id: 'php', name: 'PHP', highlight: 'php' },
  { id: 'ruby', name: 'Ruby', highlight: 'ruby' },
  { id: 'go', name: 'Go', highlight: 'go' },
  { id: 'java', name: 'Java', highlight: 'java' },
  { id: 'csharp', name: 'C#', highlight: 'csharp' },
]

const snippetOf: Readonly<Record<string, string>> = { curl: 'bash', client: 'node' }

/** A program in the language that signs the operation's request. */
export function sampleOf(languageId: string, operationId: string, { baseUrl }: { readonly baseUrl: string }): string {
  const wanted = snippetOf[languageId] ?? languageId
  const { code = '' } =
    signingSnippets().snippets.find(({ language, purpose }) => language === wanted && purpose === 'sign-request') ?? {}
  const comment = ['curl', 'python', 'ruby'].includes(languageId) ? '#' : '//'
  const opening = `${comment} ${operationId} at ${baseUrl} with the key bk_test_…\n`
  return code.startsWith('<?php\n') ? code.replace('<?php\n', `<?php\n${opening}`) : opening + code
}
