import { unlessRequired } from '@backoffice/test-kit'
import type { Test } from 'tap'
import { Cluster } from './cluster.ts'
import { copyOfDeploy, kustomizeCommand, type Overlay, overlays, render } from './kustomize.ts'

const kustomize = kustomizeCommand()

/** For a test that reads what would be applied: skipped by name where nothing can build it, unless tools are required. */
export const skip = unlessRequired(kustomize === null && 'needs kubectl 1.27 or newer, or kustomize 5')

/** Calls back with each overlay as it would be applied. */
export function forEachOverlay(t: Test, check: (overlay: Overlay, cluster: Cluster) => void): void {
  if (kustomize === null) {
    t.fail('kubectl 1.27 or newer, or kustomize 5, is needed')
    return
  }
  const deploy = copyOfDeploy(t.testdir())
  for (const overlay of overlays) check(overlay, new Cluster(render(kustomize, deploy, overlay)))
}
