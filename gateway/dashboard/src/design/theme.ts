// Mantine in our tokens: its controls use the same colours and sizes as everything else.
import {
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
} from '@mantine/core';

const accent: MantineColorsTuple = [
  ...(['#efeffc', '#dcdcf8', '#c3c4fb', '#a5a8ff', '#8687ee'] as const),
  ...(['#6b6be0', '#5b5ad8', '#4b4acf', '#3f3eb4', '#333293'] as const),
];

/** The greys of our dark backgrounds and texts. */
const dark: MantineColorsTuple = [
  ...(['#e8ebf0', '#c5ccd6', '#a6afbd', '#7a8596', '#3a434f'] as const),
  ...(['#222831', '#181c22', '#111418', '#0d1013', '#090b0d'] as const),
];

export const theme = createTheme({
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'var(--mono)',
  colors: { accent, dark },
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 3 },
  autoContrast: true,
  // Mantine chooses the text of a filled control by the light colour, also in the dark.
  variantColorResolver(input) {
    const colours = defaultVariantColorsResolver(input);
    const isAccent = input.variant === 'filled' && (input.color ?? 'accent') === 'accent';
    return isAccent ? { ...colours, color: 'var(--on-accent)' } : colours;
  },
  defaultRadius: 6,
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '16px', sm: '20px', md: '20px', lg: '24px', xl: '28px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: { size: 'xs' } },
    TextInput: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs' } },
    Modal: {
      defaultProps: {
        centered: true,
        radius: 8,
        overlayProps: { backgroundOpacity: 0.4 },
        // It writes a style that the page's policy refuses: tokens.css has ours.
        lockScroll: false,
        closeButtonProps: { 'aria-label': 'Close' },
      },
    },
    Tooltip: { defaultProps: { openDelay: 400, withinPortal: true } },
    Menu: { defaultProps: { shadow: 'md', width: 220, transitionProps: { duration: 80 } } },
  },
});

const colours = {
  '--mantine-color-body': 'var(--back)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-dimmed': 'var(--quiet)',
  '--mantine-color-placeholder': 'var(--quiet)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-default': 'var(--raised)',
  '--mantine-color-default-hover': 'var(--soft)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--line)',
  '--mantine-color-error': 'var(--failed)',
  '--mantine-primary-color-contrast': 'var(--on-accent)',
};

export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: colours, dark: colours });
