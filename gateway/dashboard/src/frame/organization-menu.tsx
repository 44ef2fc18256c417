// The organization of the page, and the others that this browser is signed in to.
import { Menu } from '@mantine/core';
import { pathOf } from '../api/client.ts';
import { Icon } from '../design/icons.tsx';
import { signInAddress } from '../session/sign-in-address.ts';
import { useViewer } from '../session/viewer.tsx';
import classes from './sidebar.module.css';

export function OrganizationMenu({ isNarrow }: { readonly isNarrow: boolean }) {
  const { organization, organizations } = useViewer();
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <button type="button" className={classes.menu} aria-label={`Organization ${organization.name}`}>
          <span className={classes.letter} aria-hidden="true">
            {[...organization.name.toUpperCase()][0]}
          </span>
          {!isNarrow && (
            <>
              <bdi className={classes.name}>{organization.name}</bdi>
              <Icon name="down" size={12} />
            </>
          )}
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Organizations</Menu.Label>
        {organizations.map(({ id, name }) => (
          <Menu.Item
            key={id}
            component="a"
            href={`${pathOf(id)}/`}
            leftSection={id === organization.id ? <Icon name="check" /> : <span style={{ width: 16 }} />}
          >
            <bdi>{name}</bdi>
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          component="a"
          href={signInAddress({ another: true, returnTo: '/' })}
          leftSection={<Icon name="plus" />}
        >
          Sign in to another one
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
