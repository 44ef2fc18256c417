// The style of the answer page: light and dark, readable on a phone and at twice the size, without any other file.

export const STYLE = `
:root { color-scheme: light dark; --back: #ffffff; --soft: #f6f7f9; --line: #7b8595; --text: #1b1f26; --quiet: #565f6d;
  --accent: #4b4acf; --on: #ffffff; --bad: #8a0a22; --good: #187a5b }
@media (prefers-color-scheme: dark) { :root { --back: #111418; --soft: #181c22; --line: #7a8596; --text: #e8ebf0;
  --quiet: #a6afbd; --accent: #a5a8ff; --on: #111418; --bad: #f9566c; --good: #58edb2 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main, header { max-width: 44rem; margin: 0 auto; padding: 0 1rem }
header { padding-top: 1.5rem; color: var(--quiet); font-size: .875rem }
main { padding-bottom: 4rem }
h1 { font-size: 1.375rem; line-height: 1.35; margin: .5rem 0 1rem; overflow-wrap: anywhere; white-space: pre-wrap }
h2 { font-size: 1rem; margin: 2rem 0 .5rem }
h3 { font-size: .875rem; font-weight: 600; color: var(--quiet); margin: 1rem 0 .25rem; overflow-wrap: anywhere }
p { margin: 0 0 .75rem; overflow-wrap: anywhere }
a { color: var(--accent) }
.text, pre, dd { overflow-wrap: anywhere; white-space: pre-wrap; margin: 0 }
p.text { margin: 0 0 .75rem }
pre { font: .875rem/1.5 ui-monospace, monospace; background: var(--soft); padding: .75rem; border-radius: 6px }
.quiet, .hint { color: var(--quiet); font-weight: 400 }
.hint { font-size: .875rem; margin: 0 0 .375rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums }
th, td { text-align: start; vertical-align: top; padding: .375rem .75rem .375rem 0; border-bottom: 1px solid var(--line);
  white-space: pre-wrap; overflow-wrap: anywhere; min-width: 4rem }
th { font-weight: 600 }
td.number { text-align: end }
dl { margin: 0 0 .75rem }
dl > div { padding: .375rem 0; border-bottom: 1px solid var(--line) }
dt { color: var(--quiet); font-size: .875rem }
summary { cursor: pointer; padding: .25rem 0; color: var(--accent) }
form { margin-top: 1.5rem }
fieldset { border: 0; margin: 0 0 1.25rem; padding: 0; min-width: 0 }
fieldset fieldset, .row { border-inline-start: 3px solid var(--line); padding-inline-start: 1rem }
.row { margin-bottom: 1rem }
.field { margin-bottom: 1.25rem }
label, legend { font-weight: 600; padding: 0; overflow-wrap: anywhere }
label { display: block }
input:not([type=radio], [type=checkbox]), textarea, select { width: 100%; max-width: 100%; min-height: 3rem; padding: .5rem .75rem;
  font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 6px }
textarea.code { font-family: ui-monospace, monospace; font-size: .875rem }
.options { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .375rem }
.option { display: flex; align-items: center; gap: .625rem; min-height: 3rem; padding: .5rem 1rem; font-weight: 400;
  border: 1px solid var(--line); border-radius: 6px; cursor: pointer }
.option:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent) }
.option input { width: 1.25rem; height: 1.25rem; flex: none; accent-color: var(--accent) }
.wrong { border-inline-start: 4px solid var(--bad); padding-inline-start: .75rem }
.fault { color: var(--bad); font-weight: 600; margin: 0 0 .375rem }
.faults, .said { border: 2px solid var(--bad); border-radius: 6px; padding: .75rem 1rem; margin: 0 0 1.5rem }
.faults ul { margin: 0; padding-inline-start: 1.25rem }
.faults a { color: var(--bad) }
.said { border-color: var(--good) }
button { min-height: 3rem; padding: .5rem 1.5rem; font: inherit; font-weight: 600; border-radius: 6px; cursor: pointer;
  border: 1px solid var(--accent); background: var(--accent); color: var(--on) }
button.second, button.small { background: var(--back); color: var(--accent) }
button.small { min-height: 2.25rem; padding: .25rem .75rem; font-size: .875rem; margin-inline-end: .5rem }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0 .5rem }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
`;

/** Adds the reader's local time beside each time. */
export const SCRIPT = `
for (const time of document.querySelectorAll('time[datetime]')) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) continue;
  const shown = at.toLocaleString(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' });
  time.after(' (for you: ' + shown + ')');
}
`;
