// `npm run generate`: writes everything in the repository that follows from something else in it. A test compares what is checked in.
import { readFileSync, writeFileSync } from 'node:fs'
import { renderPermissionsFile } from '@backoffice/contracts'
import { renderPrivacy, renderSecurity, renderWebhooks } from './tables.ts'
import { renderDashboard } from './telemetry/dashboard.ts'

/**
 * The rule files of deploy/telemetry as the operator of Prometheus takes them. They stay what promtool and a Prometheus without
 * the operator read.
 */
const ruleFiles = { backoffice: 'alerts.yaml', 'backoffice-platform': 'platform-alerts.yaml' }

function renderRules(): string {
  const documents = Object.entries(ruleFiles).map(([name, file]) => {
    const text = readFileSync(new URL(`telemetry/${file}`, import.meta.url), 'utf8')
    const groups = text.slice(text.indexOf('\ngroups:') + 1).replace(/^(?=.)/gm, '  ')
    return `apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: ${name}\nspec:\n${groups}`
  })
  return `# Written by \`npm run generate\` from deploy/telemetry. Change the files there.\n${documents.join('---\n')}`
}

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
