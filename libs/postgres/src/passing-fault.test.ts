import { deepEqual, equal } from 'node:assert/strict';
import { constants } from 'node:os';
import { describe, test } from 'node:test';
import { ServiceError } from '@methods/errors/service-error';
import { isPassingFault, sqlState, storageFault } from './database-fault.ts';

const coded = (code: string, more: object = {}) => Object.assign(new Error('a secret'), { code, ...more });
const meaning = (error: unknown) => {
  const fault = storageFault(error);
  return fault instanceof ServiceError ? fault.code : 'as it was';
};

/** Appendix A of the Postgres manual, by what we make of them. */
const STATES = {
  unavailable: `08000 08003 08006 08001 08004 08007 08P01 25006 25P02 25P03 25P04 40000 40002 40001 40003 40P01
    53000 53100 53200 53300 53400 55P03 57000 57014 57P01 57P02 57P03 57P04 57P05 58000 58030 58P01 58P02 58P03`,
  invalid_request: `22000 2202E 22021 22008 22012 22005 2200B 22022 22015 2201E 22014 22016 2201F 2201G 22018 22007 22019
    2200D 22025 22P06 22010 22023 22013 2201B 2201W 2201X 2202H 2202G 22009 2200C 2200G 22004 22002 22003 2200H 22026
    22001 22011 22027 22024 2200F 22P01 22P02 22P03 22P04 22P05 2200L 2200M 2200N 2200S 2200T 22030 22031 22032 22033
    22034 22035 22036 22037 22038 22039 2203A 2203B 2203C 2203D 2203E 2203F 2203G`,
  'as it was': `00000 01000 02000 03000 09000 0A000 0B000 0F000 0L000 0P000 0Z000 0Z002 20000 21000 23000 23001 23502 23503
    23505 23514 23P01 24000 25000 25001 25002 25003 25004 25005 25007 25008 25P01 26000 27000 28000 28P01 2B000 2BP01
    2D000 2F000 34000 38000 39000 3B000 3B001 3D000 3F000 42000 42601 42501 42703 42883 42P01 42P05 44000 54000 54001
    54011 54023 55000 55006 55P02 55P04 72000 F0000 F0001 HV000 P0001 P0002 XX000 XX001 XX002
    0100C 01008 01003 01007 01006 01004 01P01 02001 0F001 0LP01 10608 2F005 2F002 2F003 2F004 38001 38002 38003
    38004 39001 39004 39P01 39P02 39P03 42846 42803 42P20 42P19 42830 42602 42622 42939 42804 42P18 42P21 42P22
    42809 428C9 42P02 42704 42P03 42P04 42723 42P06 42P07 42712 42710 42702 42725 42P08 42P09 42P10 42611 42P11
    42P12 42P13 42P14 42P15 42P16 42P17 HV005 HV002 HV010 HV021 HV024 HV007 HV008 HV004 HV006 HV091 HV00B HV00C
    HV00D HV090 HV00A HV009 HV014 HV001 HV00P HV00J HV00K HV00Q HV00R HV00L HV00M HV00N P0000 P0003 P0004`,
};

describe('a fault of the database', () => {
  for (const [expected, states] of Object.entries(STATES)) {
    test(`of ${states.split(/\s+/).length} states is ${expected}`, () => {
      const found = states.split(/\s+/).map((state) => [state, sqlState(coded(state)), meaning(coded(state))]);
      deepEqual(
        found.filter(([state, read, is]) => read !== state || is !== expected),
        [],
      );
    });
  }

  test('that ends the session, or gives none, is unavailable in any state', () => {
    for (const code of ['28P01', '28000', '3D000', '55000', 'XX000', '25P03']) {
      equal(meaning(coded(code, { severity: 'FATAL' })), 'unavailable', code);
      equal(meaning(coded(code, { severity: 'PANIC' })), 'unavailable', code);
    }
  });

  test('of the system is not one of the server, and unavailable: EPIPE has five capitals too', () => {
    const names = [...Object.keys(constants.errno), 'ENOTFOUND', 'EAI_AGAIN'];
    deepEqual(
      names.filter((name) => sqlState(coded(name)) !== null || meaning(coded(name)) !== 'unavailable'),
      [],
    );
    equal(names.includes('EPIPE'), true);
  });

  test('of the connection, the pool and TLS is unavailable', () => {
    const codes = `CONNECTION_CLOSED CONNECTION_DESTROYED CONNECTION_ENDED CONNECTION_SILENT CONNECT_TIMEOUT
      DEADLINE_EXCEEDED TOO_MANY_QUERIES ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER ERR_STREAM_DESTROYED
      ERR_SOCKET_CLOSED CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT UNABLE_TO_VERIFY_LEAF_SIGNATURE`;
    deepEqual(
      codes.split(/\s+/).filter((code) => sqlState(coded(code)) !== null || meaning(coded(code)) !== 'unavailable'),
      [],
    );
  });

  test('in our own code is unchanged', () => {
    const ours = [
      coded('UNDEFINED_VALUE'),
      coded('MAX_PARAMETERS_EXCEEDED'),
      coded('UNSAFE_TRANSACTION'),
      coded('ERR_INVALID_ARG_TYPE'),
      new TypeError('a secret'),
      null,
      'text',
      { code: 7 },
    ];
    for (const error of ours) equal(isPassingFault(error), false, String(error));
  });
});
