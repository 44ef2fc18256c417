// Settings of the organization, in parts: the part is in the address.
import { Tabs } from '@mantine/core';
import type { ComponentType } from 'react';
import { Page } from '../../design/page.tsx';
import { useSearchState } from '../../frame/navigate.ts';
import { AuditLog } from './audit-log.tsx';
import { EndpointList } from './endpoint-list.tsx';
import { GeneralSettings } from './general-settings.tsx';
import { KeyList } from './key-list.tsx';
import { MemberList } from './member-list.tsx';
import classes from './settings.module.css';

const PARTS: readonly { readonly value: string; readonly title: string; readonly Part: ComponentType }[] = [
  { value: 'general', title: 'General', Part: GeneralSettings },
  { value: 'members', title: 'Members', Part: MemberList },
  { value: 'keys', title: 'Keys', Part: KeyList },
  { value: 'endpoints', title: 'Endpoints', Part: EndpointList },
  { value: 'audit', title: 'Audit log', Part: AuditLog },
];

export function SettingsPage() {
  const [search, change] = useSearchState();
  const part = PARTS.find(({ value }) => value === search.part)?.value ?? 'general';
  return (
    <Page title="Settings">
      <Tabs
        value={part}
        // What another part filters by means nothing in the next one.
        onChange={(value) => change({ part: value, action: null, by: null, target: null })}
        keepMounted={false}
      >
        <Tabs.List className={classes.parts ?? ''}>
          {PARTS.map(({ value, title }) => (
            <Tabs.Tab key={value} value={value}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {PARTS.map(({ value, Part }) => (
          <Tabs.Panel key={value} value={value} pt="lg">
            <Part />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Page>
  );
}
