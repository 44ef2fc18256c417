// Opens an address in the user's browser, where the system has a command for that. No one waits for it.
import { spawn } from 'node:child_process';

/** The address is printed too, so a browser that does not open is no error. */
export function openBrowser(url: string, env: ReadonlyMap<string, string>): void {
  const [command, ...args] = browserCommand(url);
  const child = spawn(command, args, { stdio: 'ignore', detached: true, env: Object.fromEntries(env) });
  child.on('error', () => {});
  child.unref();
}

function browserCommand(url: string): [string, ...string[]] {
  switch (process.platform) {
    case 'darwin':
      return ['open', url];
    case 'win32':
      // `start` of the shell would read the ampersands of the address.
      return ['rundll32', 'url.dll,FileProtocolHandler', url];
    default:
      return ['xdg-open', url];
  }
}
