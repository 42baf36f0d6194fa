// proof: the pages in a real browser. pages.test.ts and documents.test.ts read them.

import { sharedSystem } from '@backoffice/test-kit'
import { noBrowser, startBrowser } from '@backoffice/test-kit/browser'
import t from 'tap'
import { openPage } from './open-page.ts'
import { readingTests } from './reading.ts'
import { testerTests } from './tester.ts'

t.test('the documentation in a real browser', { skip: noBrowser }, async (t) => {
  const system = await sharedSystem(t)
  const browser = await startBrowser(t)
  readingTests(t, { docsUrl: system.docsUrl, browser })
  testerTests(t, { system, open: (t, options) => openPage(t, browser, system.docsUrl, options) })
})
