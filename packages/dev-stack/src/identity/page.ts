import { teamRoles } from '@backoffice/contracts'
import { type Person, teamPeople } from './people.ts'

interface Choice {
  /** The program that wants to know who is there. */
  readonly client: string
  readonly action: string
  /** Whether the person has logged in before, and is asked once more. */
  readonly again: boolean
}

/** A page to choose a person. All text in it is this program's own. */
export function choicePage({ client, action, again }: Choice): string {
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
<ul>
${teamPeople.map(personItem).join('\n')}
</ul>
<button class="nobody" name="person" value="">Cancel</button>
</form>
</main>
</body>
</html>
`
}

function personItem({ id, name, roles }: Person): string {
  const what = roles.length === teamRoles.length ? 'every role' : roles.join(', ')
  return `<li><button class="person" name="person" value="${id}">
<span class="letter ${roles.length === 1 ? roles[0] : 'all'}" aria-hidden="true">${name.slice(0, 1)}</span>
<span class="who"><strong>${name}</strong> <span>${id} · ${what}</span></span>
</button></li>`
}

export const stylesheet = `:root {
  --page: #f3f4f7; --card: #fff; --text: #16191f; --quiet: #5a6270; --line: #dfe2e8; --hover: #eef2fb; --ring: #2f5fd0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #101216; --card: #191c22; --text: #eceef2; --quiet: #a3abb9; --line: #2d323b; --hover: #232833; --ring: #86a9ff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem 1rem;
  background: var(--page); color: var(--text);
  font: 1rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main {
  width: 100%; max-width: 27rem; padding: 1.75rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 14px; box-shadow: 0 8px 30px rgb(10 15 30 / 8%);
}
.for { margin: 0; color: var(--quiet); font-size: .875rem; }
h1 { margin: .15rem 0 .5rem; font-size: 1.5rem; letter-spacing: -.01em; }
main > p:not(.for) { margin: 0 0 1.25rem; color: var(--quiet); font-size: .9rem; }
ul { margin: 0; padding: 0; list-style: none; display: grid; gap: .4rem; }
button { font: inherit; color: inherit; cursor: pointer; }
button:focus-visible { outline: 3px solid var(--ring); outline-offset: 2px; }
.person {
  width: 100%; display: flex; align-items: center; gap: .85rem; padding: .6rem .75rem; text-align: left;
  background: none; border: 1px solid var(--line); border-radius: 10px;
}
.person:hover { background: var(--hover); border-color: var(--ring); }
.letter {
  flex: none; width: 2.35rem; height: 2.35rem; display: grid; place-items: center; border-radius: 50%;
  color: #fff; font-weight: 600; background: #2c4a9e;
}
.compliance { background: #6a3d9a; }
.finance { background: #1b6e4b; }
.integration { background: #a34a12; }
.support { background: #0e6a80; }
.auditor { background: #5b6270; }
.who { display: grid; min-width: 0; }
.who span { color: var(--quiet); font-size: .85rem; }
.nobody { margin-top: 1rem; padding: .35rem 0; background: none; border: 0; color: var(--quiet); text-decoration: underline; }
`
