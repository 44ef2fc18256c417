// A frame on the wire: a message with one repeated field, `items`. All items of a frame are encoded in one go; encoding
// them one by one costs four times as much.
import type { DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { assert } from '@methods/base/assert';
import { encoder } from './message-codec.ts';

/** The items that arrive in frames of this message. */
export type ReceivedItem<Frame extends DescMessage> =
  MessageShape<Frame> extends { items: (infer Item)[] } ? Item : never;
/** The items that may be sent in frames of this message: messages, or plain objects of their shape. */
export type SentItem<Frame extends DescMessage> =
  MessageInitShape<Frame> extends { items?: (infer Item)[] } ? Item : never;

/** Encodes the items of one frame. Items that are messages already are used directly. */
export function frameEncoder<Frame extends DescMessage>(frame: Frame): (items: SentItem<Frame>[]) => Buffer {
  const field = frame.fields.find(({ localName }) => localName === 'items');
  assert(field?.fieldKind === 'list' && field.listKind === 'message', `${frame.typeName} is not a frame`);
  const encode = encoder(frame);
  return (items) => encode({ items } as unknown as MessageInitShape<Frame>);
}
