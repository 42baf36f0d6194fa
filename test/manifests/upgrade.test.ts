import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Cluster } from './cluster.ts'
import { copyOfDeploy, deployFolder, kustomizeCommand, render } from './kustomize.ts'
import { skip } from './rendered.ts'

t.setTimeout(120_000)

t.test('with the component of the upgrade NATS reads the permissions that release 1.1 needs', { skip }, async (t) => {
  const deploy = copyOfDeploy(t.testdir())
  const kustomize = kustomizeCommand() ?? []
  const files = () => new Cluster(render(kustomize, deploy, 'local')).all('ConfigMap')
  const conf = (name: string) => readFileSync(join(deployFolder, 'nats', name), 'utf8')
  const [before] = files().filter(({ data }) => 'permissions.conf' in data)
  t.equal(before.data['permissions.conf'], conf('permissions.conf'))

  appendFileSync(join(deploy, 'k8s/overlays/local/kustomization.yaml'), 'components: [../../../nats/upgrade]\n')
  const [during, ...more] = files().filter(({ data }) => 'permissions.conf' in data)
  t.same(more, [])
  t.same(during.data, { ...before.data, 'permissions.conf': conf('upgrade/permissions.conf') })
  t.not(during.metadata.name, before.metadata.name, 'another name, so that the pods of NATS are replaced')
})
