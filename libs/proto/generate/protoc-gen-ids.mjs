// Runs protoc-gen-es and then gives ids their types: a string field named like an id has that id's type of
// @methods/base, so that two ids cannot be swapped on their way into or out of a message (ADR 0036).
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { CodeGeneratorResponseSchema } from '@bufbuild/protobuf/wkt';

const GENERATOR = fileURLToPath(new URL('../../../node_modules/.bin/protoc-gen-es', import.meta.url));
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

const ID_TYPES = new Map([
  ['org_id', 'OrgId'],
  ['run_id', 'RunId'],
  ['run_ids', 'RunId'],
  ['rerun_of', 'RunId'],
  ['method', 'ProductionId'],
  ['methods', 'ProductionId'],
  ['method_id', 'MethodId'],
  ['method_ids', 'MethodId'],
  ['version_id', 'VersionId'],
  ['base_version', 'VersionId'],
  ['current_version', 'VersionId'],
  ['published_version', 'VersionId'],
  ['key_id', 'KeyId'],
  ['question_id', 'QuestionId'],
  ['user_id', 'UserId'],
  ['upload_id', 'UploadId'],
  ['file_id', 'FileId'],
  ['file_ids', 'FileId'],
  ['folder_id', 'FolderId'],
  ['delivery_id', 'DeliveryId'],
  ['delivery_ids', 'DeliveryId'],
  ['audit_id', 'AuditId'],
  ['endpoint_id', 'EndpointId'],
  ['bulk_id', 'BulkId'],
]);

/** A string field with its comment, which ends with the field as proto/ declares it. */
const FIELD =
  /\/\*\*(?:(?!\*\/)[\s\S])*@generated from field: (?:repeated )?string (\w+) = \d+;\n +\*\/\n +\w+: string/g;

/** Versions that calls are bound to, by the method called. */
const CALLS = /( calls: )\{ \[key: string\]: string \}/g;

/** Words in a comment of proto/ that widen the type of its field: they name what it may hold besides an id. */
const OTHERS = [
  [/\bempty\b/i, "''"],
  [/\bor published\b/i, "'published'"],
  [/\bor wf_ form\b/i, 'ProductionId'],
];

function typeOf(name, field) {
  // The id of a Question has no name of its own.
  return name === 'id' && field.includes(' q_...\n') ? 'QuestionId' : ID_TYPES.get(name);
}

function withIds(code) {
  const used = new Set();
  const note = (type) => {
    if (/^\w+$/.test(type)) used.add(type);
    return type;
  };
  const typed = code.replace(FIELD, (field, name) => {
    const type = typeOf(name, field);
    if (type === undefined) return field;
    const types = [type, ...OTHERS.filter(([says]) => says.test(field)).map(([, other]) => other)].map(note);
    return field.slice(0, -'string'.length) + (types.length === 1 ? type : `(${types.join(' | ')})`);
  });
  const whole = typed.replace(
    CALLS,
    (_, before) => `${before}{ [key: ${note('ProductionId')}]: ${note('VersionId')} }`,
  );
  if (used.size === 0) return code;
  return whole.replace(
    '\nimport ',
    `\nimport type { ${[...used].sort().join(', ')} } from "@methods/base/ids";\nimport `,
  );
}

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const made = spawnSync(process.execPath, [GENERATOR], {
  input: Buffer.concat(chunks),
  stdio: ['pipe', 'pipe', 'inherit'],
  maxBuffer: OUTPUT_BYTES_MAX,
});
if (made.status !== 0) process.exit(made.status ?? 1);
const response = fromBinary(CodeGeneratorResponseSchema, made.stdout);
for (const file of response.file) file.content = withIds(file.content);
process.stdout.write(toBinary(CodeGeneratorResponseSchema, response));
