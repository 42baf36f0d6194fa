import { readFileSync } from 'node:fs'

interface Language {
  readonly id: string
  readonly name: string
  readonly signRequest: string
  readonly verifyWebhook: string
  /** What runs the file, shown to the reader. */
  readonly runtime: string
}

/** The files stand in snippets/, as the programs that the tests execute. */
export const languages: readonly Language[] = [
  {
    id: 'node',
    name: 'Node.js / TypeScript',
    runtime: 'Node.js 22.18 or newer',
    signRequest: 'sign-request.ts',
    verifyWebhook: 'verify-webhook.ts',
  },
  {
    id: 'python',
    name: 'Python',
    runtime: 'Python 3.8 or newer',
    signRequest: 'sign_request.py',
    verifyWebhook: 'verify_webhook.py',
  },
  {
    id: 'php',
    name: 'PHP',
    runtime: 'PHP 7.4 or newer',
    signRequest: 'sign-request.php',
    verifyWebhook: 'verify-webhook.php',
  },
  {
    id: 'ruby',
    name: 'Ruby',
    runtime: 'Ruby 2.7 or newer',
    signRequest: 'sign_request.rb',
    verifyWebhook: 'verify_webhook.rb',
  },
  {
    id: 'java',
    name: 'Java',
    runtime: 'Java 17 or newer',
    signRequest: 'SignRequest.java',
    verifyWebhook: 'VerifyWebhook.java',
  },
  {
    id: 'go',
    name: 'Go',
    runtime: 'Go 1.19 or newer',
    signRequest: 'sign_request.go',
    verifyWebhook: 'verify_webhook.go',
  },
  {
    id: 'csharp',
    name: 'C#',
    runtime: 'Mono, .NET Framework 4.5, .NET 6 or newer',
    signRequest: 'SignRequest.cs',
    verifyWebhook: 'VerifyWebhook.cs',
  },
  {
    id: 'bash',
    name: 'Bash with openssl and curl',
    runtime: 'Bash 4, openssl, curl',
    signRequest: 'sign-request.sh',
    verifyWebhook: 'verify-webhook.sh',
  },
]

export interface Snippet {
  readonly language: string
  readonly name: string
  readonly purpose: 'sign-request' | 'verify-webhook'
  readonly filename: string
  readonly runtime: string
  readonly code: string
}

/** Where a snippet's file is, for those who run it. */
export function snippetFile(language: string, filename: string): URL {
  return new URL(`../snippets/${language}/${filename}`, import.meta.url)
}

/** Code to sign requests and to verify webhooks, in every language that we test. */
export function signingSnippets(): { readonly snippets: readonly Snippet[] } {
  return {
    snippets: languages.flatMap(({ id, name, runtime, signRequest, verifyWebhook }) =>
      (
        [
          ['sign-request', signRequest],
          ['verify-webhook', verifyWebhook],
        ] as const
      ).map(([purpose, filename]) => ({
        language: id,
        name,
        purpose,
        filename,
        runtime,
        code: readFileSync(snippetFile(id, filename), 'utf8'),
      })),
    ),
  }
}
