// Two organizations on one stack with one object of every kind each, and ids of the same kinds that nothing has.
import { createHash, randomUUID } from 'node:crypto';
import { createServiceKey } from '@methods/auth/service-key';
import { type KeyId, newId, newMethodId, type OrgId } from '@methods/base/ids';
import { TEST_DOER } from '../../harness/test-doer.ts';
import type { TestIssuer } from '../../harness/test-issuer.ts';
import { ApiClient } from '../api-client.ts';
import { countingSource } from '../saved-method.ts';
import type { Stack } from '../stack.ts';

/** What the paths and bodies of requests name. */
export interface Objects {
  readonly methodId: string;
  readonly versionId: string;
  readonly runId: string;
  /** It is closed. */
  readonly questionId: string;
  readonly uploadId: string;
  /** Another upload, whose link has run out. */
  readonly expiredUploadId: string;
  /** Sent by the service key, the only one that sees it; named by the run. */
  readonly fileId: string;
  readonly keyId: KeyId;
  /** Its content part is granted to `keyId`. */
  readonly grantKeyId: KeyId;
  readonly endpointId: string;
  /** Of a run's webhook that no one takes. */
  readonly deliveryId: string;
  readonly userId: string;
  /** Prepared, without runs. */
  readonly bulkId: string;
  /** Of a creation key. */
  readonly creationSha256: string;
}

export interface Organization {
  readonly orgId: OrgId;
  /** As its tokens name it. */
  readonly externalId: string;
  readonly key: string;
  readonly keyAuthPart: string;
  readonly uploadToken: string;
  readonly expiredUploadToken: string;
  readonly objects: Objects;
}

export const RECORDING = Buffer.from('{"log":{"version":"1.2","entries":[]}}');
/** No run is so old. */
export const NO_RUNS = { created_before: '2000-01-01T00:00:00Z' };
const UPLOAD = { file_name: 'recorded.har', content_type: 'application/json', size: RECORDING.length };

export const MISSING: Objects = {
  methodId: newMethodId(),
  versionId: newId('ver'),
  runId: 'run_0101m7y804g33sn568qvqft2vt',
  questionId: newId('q'),
  uploadId: newId('upl'),
  expiredUploadId: newId('upl'),
  fileId: newId('file'),
  keyId: newId('key'),
  grantKeyId: newId('key'),
  endpointId: newId('ep'),
  deliveryId: newId('dlv'),
  userId: newId('usr'),
  bulkId: newId('bulk'),
  creationSha256: createHash('sha256').update('unused').digest('hex'),
};

/** The same ids, each where another kind is due. */
export function ofAnotherKind(objects: Objects): Objects {
  const { methodId, versionId, runId, uploadId, fileId, keyId, endpointId, deliveryId } = objects;
  return {
    methodId: runId,
    versionId: methodId,
    runId: uploadId,
    questionId: runId,
    uploadId: keyId,
    expiredUploadId: versionId,
    fileId: keyId,
    keyId: fileId as KeyId,
    grantKeyId: fileId as KeyId,
    endpointId: deliveryId,
    deliveryId: endpointId,
    userId: versionId,
    bulkId: runId,
    // A digest has no kind.
    creationSha256: MISSING.creationSha256,
  };
}

/** Fills the organization that the issuer's tokens call `externalId`; its first person is the object `userId`. */
export async function organization(stack: Stack, issuer: TestIssuer, externalId: string): Promise<Organization> {
  const named = { issuer: issuer.url, externalId, name: externalId };
  const { orgId } = await stack.registry.ensureOrganization(named);
  const { key, authPart, authSha256 } = createServiceKey();
  const made = { doer: TEST_DOER, orgId };
  const grantKey = await stack.registry.createServiceKey({ ...made, name: 'in use', authSha256 });
  const objectKey = await stack.registry.createServiceKey({
    ...made,
    name: 'object',
    authSha256: createServiceKey().authSha256,
  });

  const claims = { aud: `${stack.ready.base_url}/api`, sub: 'object', org_id: externalId, role: 'admin' };
  const person = new ApiClient(stack.ready.base_url, await issuer.token(claims));
  const post = async (path: string, body: object) => {
    const reply = await person.request('POST', path, { body });
    if (reply.status !== 201 && reply.status !== 200) throw new Error(`${path}: ${reply.status} ${reply.text}`);
    return JSON.parse(reply.text);
  };
  const creationKey = randomUUID();
  const { method } = await post('/api/methods', { idempotency_key: creationKey, source: countingSource(0) });
  await post(`/api/methods/${method.id}/publish`, { version_id: method.current_version });
  const { upload } = await post('/api/workflow-uploads', { ...UPLOAD, idempotency_key: randomUUID() });
  const { upload: expired } = await post('/api/workflow-uploads', { ...UPLOAD, idempotency_key: randomUUID() });
  await stack.sql`
    update registry.uploads set created_at = created_at - interval '2 d', expires_at = expires_at - interval '2 d'
    where upload_id = ${expired.id}`;
  const run = await stack.api.as(key).start({ method: method.production_id, inputs: { n: 1 } });
  const file = await stack.api.as(key).request('POST', '/v1/files', { text: RECORDING.toString() });
  const fileId = JSON.parse(file.text).file_id;
  // As if its inputs had named the file.
  await stack.sql`
    insert into scheduler.run_files (run_id, org_id, file_id, named_at_ms) values (${run.run.run_id}, ${orgId}, ${fileId}, 0)`;
  const { bulk } = await post('/api/bulk', { action: 'cancel', filter: NO_RUNS });
  const events = ['failed'];
  const { endpoint } = await post('/api/endpoints', { name: 'object', url: 'https://hook.example/in', events });
  const deliveryId = newId('dlv');
  // Its next try is far away.
  await stack.sql`
    insert into notifier.deliveries
      (org_id, delivery_id, run_id, seq, url, url_sha256, host, event, key_id, body, created_at, due_at)
    values (${orgId}, ${deliveryId}, ${run.run.run_id}, 1, 'https://hook.example/in', ${Buffer.alloc(32)}, 'hook.example',
      'failed', '', '{}', now(), now() + interval '1 d')`;
  const questionId = newId('q');
  // As if it had asked and been answered: no worker is here.
  await stack.sql`
    insert into scheduler.questions (org_id, question_id, run_id, method, version_id, step, answer_by, prompt, asked_at_ms,
      state, closed_at_ms, question_json)
    values (${orgId}, ${questionId}, ${run.run.run_id}, ${method.production_id}, ${method.current_version}, 'ask', 'team',
      'Go on?', 1, 'cancelled', 2, ${JSON.stringify({ id: questionId, step: 'ask', prompt: 'Go on?', show: [] })})`;
  const [user] = await stack.sql<{ user_id: string }[]>`
    select user_id from registry.users where org_id = ${orgId} and subject = 'object'`;
  return {
    orgId,
    externalId,
    key,
    keyAuthPart: authPart,
    uploadToken: upload.token,
    expiredUploadToken: expired.token,
    objects: {
      methodId: method.id,
      versionId: method.current_version,
      runId: run.run.run_id,
      questionId,
      uploadId: upload.id,
      expiredUploadId: expired.id,
      fileId,
      keyId: (objectKey.key?.keyId ?? '') as KeyId,
      grantKeyId: (grantKey.key?.keyId ?? '') as KeyId,
      endpointId: endpoint.id,
      deliveryId,
      userId: user?.user_id ?? '',
      bulkId: bulk.id,
      creationSha256: createHash('sha256').update(creationKey).digest('hex'),
    },
  };
}
