// The answer to a question of a run in device mode: an envelope of the same content key as the run's inputs.
import { type SealedShape, sealedShape } from '@methods/content/sealed-shape';
import { ServiceError } from '@methods/errors/service-error';
import { isJsonObject, type JsonValue } from '@methods/method/json';

const ANSWER_BYTES_MAX = 64 * 1024;

/** `sealedBy`: the fingerprint of the run's content key. @throws ServiceError */
export function sealedAnswer(answer: JsonValue, comment: string, sealedBy: string): SealedShape {
  if (!isJsonObject(answer) || !Object.hasOwn(answer, '$sealed')) {
    throw new ServiceError('device_mode_required', 'The run takes only answers that were sealed for it.');
  }
  const shape = sealedShape(answer, 'answer', ANSWER_BYTES_MAX);
  if (shape === null) throw refused('sealed_value_damaged', 'The answer is not an envelope of an answer.');
  if (shape.fingerprint !== sealedBy) {
    throw refused('content_key_missing', 'Another content key sealed the answer: its worker could not open it.');
  }
  if (comment !== '') {
    const message = 'A comment would be plain: put it into the answer.';
    throw new ServiceError('device_mode_required', message, {
      findings: [{ path: '/comment', code: 'comment', message }],
    });
  }
  return shape;
}

function refused(code: string, message: string): ServiceError {
  return new ServiceError('invalid_answer', message, { findings: [{ path: '/answer', code, message }] });
}
