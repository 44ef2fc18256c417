import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureIn, managerEnvironment, missingPackageIn, reasonIn, withoutCredentials } from './package-manager.ts';

const SAID = [
  ["npm error code E404\nnpm error 404  'gone@1.0.0' is not in this registry.", 'not_found', 'gone@1.0.0'],
  ['npm ERR! code ETARGET\nnpm ERR! notarget No matching version found for a@9.0.0.', 'not_found', 'a@9.0.0'],
  ['ERROR: No matching distribution found for pandas==9.9', 'not_found', 'pandas==9.9'],
  ['npm error code ECONNREFUSED', 'unreachable', null],
  ['npm error code E503\nnpm error 503 Service Unavailable', 'unreachable', null],
  [
    'WARNING: Retrying (Retry(total=0)) after connection broken\nERROR: No matching distribution found for a==1',
    'unreachable',
    'a==1',
  ],
  ['npm error code EINTEGRITY', 'mismatch', null],
  ['ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.', 'mismatch', null],
  ['npm error code EACCES', 'other', null],
] as const;

for (const [said, failure, missing] of SAID) {
  test(`"${said.split('\n')[0]}" is ${failure}`, () => {
    assert.equal(failureIn(said), failure);
    assert.equal(missingPackageIn(said), missing);
  });
}

test('a reason is one bounded line of the reported fault', () => {
  const lines = [
    'npm warn old',
    'npm error code E1',
    'npm error it broke',
    'npm error A complete log of this run is at',
  ];
  assert.equal(reasonIn(lines.join('\n')), 'code E1 · it broke');
  assert.equal(reasonIn('Traceback\n  File "x"\nKeyError: 1\n'), 'Traceback · File "x" · KeyError: 1');
  assert.ok(reasonIn(`ERROR: ${'x'.repeat(10_000)}`).length < 700);
});

test('a package manager sees its own settings, and no install locations or secrets', () => {
  const host = new Map([
    ['npm_config_//registry.example.com/:_authToken', 'npm-token'],
    ['PIP_INDEX_URL', 'https://ann:hunter22@pypi.example.com/simple'],
    ['https_proxy', 'http://proxy.example.com:3128'],
    ['PIP_TARGET', '/elsewhere'],
    ['npm_config_global', 'true'],
    ['STRIPE_KEY', 'sk_live'],
    ['PATH', '/somewhere'],
  ]);
  const env = managerEnvironment({ host, path: '/bin', cacheDir: '/cache', allowScripts: false }, '/home');
  const passed = ['npm_config_//registry.example.com/:_authToken', 'PIP_INDEX_URL', 'https_proxy'];
  assert.deepEqual(Object.keys(env).sort(), [...passed, 'HOME', 'LANG', 'PATH'].sort());
  assert.deepEqual([env.PATH, env.HOME], ['/bin', '/home']);
  const said = 'GET https://ann:hunter22@pypi.example.com/simple with npm-token, hunter22';
  assert.equal(withoutCredentials(said, host), 'GET https://***@pypi.example.com/simple with ***, ***');
});
