import { readFileSync } from 'node:fs'
import { teamRoles } from '@backoffice/contracts'
import { type Configuration, interactionPolicy, type KoaContextWithOIDC, Provider } from 'oidc-provider'
import {
  claimsOf,
  commandLineClientId,
  confirmedAcr,
  consoleClientId,
  type IdentitySettings,
  type Person,
  teamPeople,
} from './people.ts'

const bodyBytesMax = 1_024
/** A working day, and more. */
const sessionSeconds = 12 * 3_600
const loginSeconds = 600

/** Forms are sent to this server, which then sends the browser on to the console or the command line. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "form-action 'self' http://127.0.0.1:* http://localhost:*",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const stylesheet = readFileSync(new URL('style.css', import.meta.url), 'utf8')

/**
 * An OpenID Connect provider of a development stack. It asks for no password: whoever reaches it chooses a person. It
 * listens on the loopback interface only.
 */
export function identityProvider(settings: IdentitySettings): Provider {
  const provider = new Provider(settings.issuer, configuration(settings))
  provider.use(async (ctx, next) => {
    ctx.set('Content-Security-Policy', contentSecurityPolicy)
    ctx.set('X-Content-Type-Options', 'nosniff')
    ctx.set('Referrer-Policy', 'no-referrer')
    if (ctx.path === '/style.css') {
      ctx.type = 'text/css'
      ctx.body = stylesheet
    } else if (ctx.path.startsWith('/choose/')) await choose(provider, ctx as unknown as KoaContextWithOIDC)
    else await next()
  })
  return provider
}

/** The console hears of logouts, for both clients. */
const heardOf = ({ url }: IdentitySettings['console']) => ({
  backchannel_logout_uri: `${url}/backchannel-logout`,
  backchannel_logout_session_required: true,
})

const clientsOf = (console: IdentitySettings['console']): Configuration['clients'] => [
  {
    client_id: consoleClientId,
    client_name: 'Console',
    client_secret: console.clientSecret,
    redirect_uris: [`${console.url}/callback`],
    post_logout_redirect_uris: [console.url, `${console.url}/`],
    require_auth_time: true,
    ...heardOf(console),
  },
  {
    client_id: commandLineClientId,
    client_name: 'Command line',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    // With any port, as RFC 8252 wants it.
    redirect_uris: ['http://127.0.0.1/callback'],
    require_auth_time: true,
    ...heardOf(console),
  },
]

function configuration({ console, cookieKey, port, signingKey }: IdentitySettings): Configuration {
  const policy = interactionPolicy.base()
  // It would ask each user of the command line a second time, whether the program is the one that they started.
  policy.get('consent')?.checks.remove('native_client_prompt')
  return {
    clients: clientsOf(console),
    clientDefaults: {
      id_token_signed_response_alg: 'ES256',
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
    jwks: { keys: [signingKey] },
    cookies: {
      keys: [cookieKey],
      // Cookies belong to a host whatever the port, and there may be several stacks.
      names: { session: `identity_${port}`, interaction: `identity_${port}_login`, resume: `identity_${port}_resume` },
      long: { signed: true, httpOnly: true, sameSite: 'lax' },
      short: { signed: true, httpOnly: true, sameSite: 'lax' },
    },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'preferred_username', 'groups'] },
    // The ID token is all that the console and the command line have, so the claims are in it.
    conformIdTokenClaims: false,
    acrValues: [confirmedAcr],
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      claimsParameter: { enabled: true },
    },
    // The console listens on this machine, where the library's own requests do not go.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as RequestInit),
    interactions: { policy, url: (_ctx, { uid }) => `/choose/${uid}` },
    pkce: { required: () => true },
    ttl: {
      AccessToken: loginSeconds,
      AuthorizationCode: 60,
      Grant: sessionSeconds,
      IdToken: 3_600,
      Interaction: loginSeconds,
      Session: sessionSeconds,
    },
    findAccount(_ctx, id) {
      const person = teamPeople.find((candidate) => candidate.id === id)
      return person === undefined ? undefined : { accountId: id, claims: async () => claimsOf(person) }
    },
    // Both clients are the team's own. Nobody is asked whether they may know who one is.
    async loadExistingGrant({ oidc }) {
      const { client, session, provider } = oidc
      const { Grant } = provider
      const grant = new Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' })
      grant.addOIDCScope([...oidc.requestParamScopes].join(' '))
      await grant.save()
      return grant
    },
  }
}

/** The page on which a person is chosen, and what was chosen there. */
async function choose(provider: Provider, ctx: KoaContextWithOIDC): Promise<void> {
  const { params, session } = await provider.interactionDetails(ctx.req, ctx.res)
  ctx.set('Cache-Control', 'no-store')
  if (ctx.method === 'GET') {
    const client = await provider.Client.find(String(params.client_id))
    ctx.type = 'html'
    ctx.body = choicePage({
      client: client?.clientName ?? 'Somebody',
      action: ctx.path,
      again: session?.accountId !== undefined,
      confirms: String(params.acr_values ?? '')
        .split(' ')
        .includes(confirmedAcr),
    })
    return
  }
  const form = new URLSearchParams(await bodyOf(ctx))
  const chosen = form.get('person')
  const person = teamPeople.find(({ id }) => id === chosen)
  const result =
    person === undefined
      ? { error: 'access_denied', error_description: 'Nobody was chosen.' }
      : { login: { accountId: person.id, ...(form.get('confirmed') === 'yes' ? { acr: confirmedAcr } : {}) } }
  ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: false }))
}

async function bodyOf({ req }: KoaContextWithOIDC): Promise<string> {
  let body = ''
  for await (const part of req) {
    body += String(part)
    if (body.length > bodyBytesMax) throw new Error('the form is too long')
  }
  return body
}

interface Choice {
  /** The program that wants to know who is there. */
  readonly client: string
  readonly action: string
  /** Whether the person has logged in before, and is asked once more. */
  readonly again: boolean
  /** Whether a stronger login is asked for. */
  readonly confirms: boolean
}

/** A page to choose a person. All text in it is this program's own. */
function choicePage({ client, action, again, confirms }: Choice): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Choose a person</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
<p class="for">${client}</p>
<h1>${again ? 'Log in once more' : 'Who are you?'}</h1>
<p>This identity provider belongs to <code>npm start</code> on this machine. It asks for no password.</p>
<form method="post" action="${action}">
${confirms ? confirmation : ''}<ul>
${teamPeople.map(personItem).join('\n')}
</ul>
<button class="nobody" name="person" value="" formnovalidate>Cancel</button>
</form>
</main>
</body>
</html>
`
}

const confirmation = `<p><label><input type="checkbox" name="confirmed" value="yes" required> In place of a second factor: it is me. This
proves nothing.</label></p>
`

function personItem({ id, name, roles }: Person): string {
  const what = roles.length === teamRoles.length ? 'every role' : roles.join(', ')
  return `<li><button class="person" name="person" value="${id}">
<span class="letter ${roles.length === 1 ? roles[0] : 'all'}" aria-hidden="true">${name.slice(0, 1)}</span>
<span class="who"><strong>${name}</strong> <span>${id} · ${what}</span></span>
</button></li>`
}
