import { teamPeople } from './identity/people.ts'
import { defaultStackFolder, type StackDescription, stackFileIn } from './stack-file.ts'

/**
 * What a person needs to make a first request. The curl signs itself when it is run, so it works whenever it is pasted.
 */
export function greeting(stack: StackDescription, elapsed: string, dir = defaultStackFolder): string {
  const lines = [`\nReady in ${elapsed}.\n`, `  base URL  ${stack.baseUrl}`, `  docs      ${stack.docsUrl}`]
  lines.push(`  console   ${stack.consoleUrl}`, `            log in as ${people()}`)
  for (const operator of stack.operators) {
    for (const environment of ['sandbox', 'production'] as const) {
      const { key, secret, webhookSecret } = operator[environment]
      lines.push(
        `\n  operator ${operator.name}, ${environment}`,
        `    key             ${key}`,
        `    secret          ${secret}`,
        `    webhook secret  ${webhookSecret}`,
      )
    }
  }
  const sandbox = stack.operators[0]?.sandbox
  if (sandbox !== undefined) {
    lines.push('\nA signed request to try (paste all of it):\n', signedCurl(stack.baseUrl, sandbox))
    const which = dir === defaultStackFolder ? '' : `STACK_JSON='${stackFileIn(dir)}' `
    lines.push(`\nThe sandbox's webhooks as they come, in another terminal:\n\n${which}npm run listen`)
  }
  lines.push('\nCtrl-C stops everything.')
  return lines.join('\n')
}

/** Who may log in, and who has which role. */
function people(): string {
  const everything = teamPeople.filter(({ roles }) => roles.length > 1).map(({ id }) => id)
  const others = teamPeople.filter(({ roles }) => roles.length === 1).map(({ id, roles }) => `${id} (${roles[0]})`)
  return `${everything.join(' or ')} (every role), ${others.join(', ')}`
}

/** GET /me for a POSIX shell with openssl and curl: the signature covers method, path, timestamp and the empty body. */
export function signedCurl(baseUrl: string, credentials: { readonly key: string; readonly secret: string }): string {
  const path = `${new URL(baseUrl).pathname}/me`
  return [
    'TIMESTAMP=$(date +%s)',
    "BODY_SHA256=$(printf '' | openssl dgst -sha256 | sed 's/^.* //')",
    `SIGNATURE=$(printf 'GET\\n${path}\\n%s\\n%s' "$TIMESTAMP" "$BODY_SHA256" | openssl dgst -sha256 -hmac '${credentials.secret}' | sed 's/^.* //')`,
    `curl -sS '${baseUrl}/me' -H 'X-Operator-Key: ${credentials.key}' -H "X-Timestamp: $TIMESTAMP" -H "X-Signature: $SIGNATURE"; echo`,
  ].join('\n')
}
