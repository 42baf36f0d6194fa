import type { FastifyInstance } from 'fastify'
import type { ConsoleContext } from '../http/app.ts'
import { goTo, ownAddress } from '../http/go-to.ts'
import { isLanguage } from '../words/index.ts'

/** A year. */
const maxAge = 365 * 86_400
export const themes = ['system', 'light', 'dark'] as const

/** The language and the colours that somebody chose. They are no secret, so they stand in plain cookies. */
export function registerPreferences(app: FastifyInstance, { config }: ConsoleContext): void {
  interface Body {
    readonly language?: string
    readonly theme?: string
    readonly returnTo?: string
  }
  app.post<{ Body: Body }>('/preferences', { preHandler: app.csrfProtection }, (request, reply) => {
    const { language, theme, returnTo } = request.body
    const options = { path: '/', maxAge, sameSite: 'lax', httpOnly: true, secure: !config.DEVELOPMENT } as const
    if (isLanguage(language)) reply.setCookie('language', language, options)
    if (themes.some((known) => known === theme)) reply.setCookie('theme', theme ?? '', options)
    return goTo(reply, ownAddress(returnTo))
  })
}
