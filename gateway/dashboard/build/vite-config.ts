// How the dashboard is built, for `npm start` and for development: a static page whose parts have the hash of their
// content in their names, so that browsers keep them forever.
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import type { InlineConfig } from 'vite';

const DASHBOARD = fileURLToPath(new URL('../', import.meta.url));

/** Replaced in the page by the gateway, with a new value for each reply. */
const NONCE = '__NONCE__';

export function viteConfig(folder: string): InlineConfig {
  return {
    configFile: false,
    envDir: false,
    root: DASHBOARD,
    cacheDir: `${DASHBOARD}../../node_modules/.cache/methods-dashboard-vite`,
    base: '/',
    publicDir: false,
    logLevel: 'warn',
    plugins: [react()],
    html: { cspNonce: NONCE },
    // Names of classes that a person can read in the browser's inspector.
    css: { modules: { localsConvention: 'camelCaseOnly' } },
    build: {
      outDir: folder,
      assetsDir: 'assets',
      // One file: a page whose styles did not arrive would be drawn without them, and the parts have 40 kB together.
      cssCodeSplit: false,
      emptyOutDir: false,
      target: 'es2022',
      // A page with data: addresses needs a wider policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1_000,
    },
  };
}
