// `npm run generate`: writes everything in the repository that follows from something else in it. A test compares what is checked in.
import { readFileSync, writeFileSync } from 'node:fs'
import { renderPermissionsFile } from '@backoffice/contracts'
import { renderPrivacy, renderSecurity, renderWebhooks } from './tables.ts'
import { renderDashboard } from './telemetry/dashboard.ts'
import { renderRules } from './telemetry/prometheus-rules.ts'

/** What each file says, by its path from the root of the repository. */
export const generated: Readonly<Record<string, () => string>> = {
  'deploy/nats/permissions.conf': renderPermissionsFile,
  'deploy/k8s/monitoring/rules.yaml': renderRules,
  'deploy/telemetry/dashboard.json': renderDashboard,
  'docs/privacy.md': renderPrivacy,
  'docs/security.md': renderSecurity,
  'docs/webhooks.md': renderWebhooks,
}

const root = new URL('..', import.meta.url)
export const isStale = (path: string, render: () => string) => readFileSync(new URL(path, root), 'utf8') !== render()

if (import.meta.main) {
  for (const [path, render] of Object.entries(generated)) {
    if (!isStale(path, render)) continue
    writeFileSync(new URL(path, root), render())
    process.stdout.write(`${path}\n`)
  }
}
