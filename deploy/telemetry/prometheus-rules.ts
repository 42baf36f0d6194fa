// The rule files of this folder as the operator of Prometheus takes them: `npm run generate` writes them into
// deploy/k8s/monitoring/rules.yaml. The rule files stay what promtool and a Prometheus without the operator read.
import { readFileSync } from 'node:fs'

const ruleFiles = { backoffice: 'alerts.yaml', 'backoffice-platform': 'platform-alerts.yaml' }

export function renderRules(): string {
  const documents = Object.entries(ruleFiles).map(([name, file]) => {
    const text = readFileSync(new URL(file, import.meta.url), 'utf8')
    const groups = text.slice(text.indexOf('\ngroups:') + 1).replace(/^(?=.)/gm, '  ')
    return `apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: ${name}\nspec:\n${groups}`
  })
  return `# Written by \`npm run generate\` from deploy/telemetry. Change the files there.\n${documents.join('---\n')}`
}
