//! The title, the labels, the parent and the initial state of a session, as storages keep them.

/// A session's title, labels, parent and initial state. No rule looks at them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DescriptionRow {
    /// The title, if there is one.
    pub title: Option<String>,
    /// The labels, if there are any: the text of a JSON object.
    pub labels: Option<String>,
    /// Where the session was forked from: the text of a JSON object with its `sessionId` and the
    /// `eventId` of the last event that both have. Only a new session gets one.
    pub parent: Option<String>,
    /// The keys of its own that the session was created with: the text of a JSON object. The storage
    /// keeps it unchanged. It is `None` for sessions that others created.
    pub initial_state: Option<String>,
}

/// A change of a [`DescriptionRow`]. `None` leaves a member as it is, and an empty text removes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DescriptionChange {
    /// The new title.
    pub title: Option<String>,
    /// The new labels: the text of a JSON object.
    pub labels: Option<String>,
    /// The parent of a new session.
    pub parent: Option<String>,
    /// The initial state of a new session.
    pub initial_state: Option<String>,
    /// The title of a session that has none. It is applied after `title`.
    pub first_title: Option<String>,
}

/// The change that describes a new session.
impl From<DescriptionRow> for DescriptionChange {
    fn from(description: DescriptionRow) -> Self {
        let DescriptionRow { title, labels, parent, initial_state } = description;
        Self { title, labels, parent, initial_state, first_title: None }
    }
}

impl DescriptionRow {
    /// Applies a change.
    pub fn apply(&mut self, change: DescriptionChange) {
        let members = [
            (&mut self.title, change.title),
            (&mut self.labels, change.labels),
            (&mut self.parent, change.parent),
            (&mut self.initial_state, change.initial_state),
        ];
        for (member, new) in members {
            if let Some(new) = new {
                *member = Some(new).filter(|new| !new.is_empty());
            }
        }
        let title = self.title.as_deref().unwrap_or_default();
        if let Some(first_title) = Self::first_title(title, change.first_title) {
            self.title = Some(first_title);
        }
    }

    /// Returns the title that a session with this title gets from a
    /// [`first_title`](DescriptionChange::first_title). It has none if the title is empty, and an
    /// empty first title gives none.
    #[must_use]
    pub fn first_title(title: &str, first_title: Option<String>) -> Option<String> {
        first_title.filter(|first_title| title.is_empty() && !first_title.is_empty())
    }
}
